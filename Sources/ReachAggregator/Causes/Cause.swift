public import ReachCore

/// A fault that several targets may fail for: a part of their way that they share.
public enum Cause: Hashable, Sendable {
  /// The interface of this name.
  case link(String)
  /// The gateway of this address behind this interface: the same address behind another one is another gateway.
  case gateway(IPAddress, interface: String)
  /// The name server of this address.
  case resolver(IPAddress)
  /// The kernel's routing tables, which refused several targets together for this reason while their interface was fine.
  case route(Reason)
}

extension Cause: CustomStringConvertible {
  /// The name that stays the same from one such fault to the next, such as `link:eth0` or `gateway:192.0.2.1`.
  public var description: String {
    switch self {
    case .link(let interface): "link:\(interface)"
    case .gateway(let address, let interface):
      "gateway:\(address.family == .ipv6 && address.isLinkLocal ? address.scoped(to: interface) : address)"
    case .resolver(let address): "resolver:\(address)"
    case .route(let reason): "route:\(reason)"
    }
  }
}
