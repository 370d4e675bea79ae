internal import Glibc
public import ReachCore

/// An address with a port as the kernel takes it: sockaddr_in (ip(7)) or sockaddr_in6 (ipv6(7)). A plain value.
public struct SocketAddress: Hashable, Sendable {
  /// The address, without a zone: the kernel knows zones by number.
  public let address: IPAddress
  /// The port.
  public let port: UInt16
  /// sin6_scope_id: the index of the interface that a link-local IPv6 address belongs to; 0 for none.
  public let scope: UInt32

  /// An address. The zone of `address` is not looked at: `scope` stands for it.
  public init(_ address: IPAddress, port: UInt16, scope: UInt32 = 0) {
    self.address = address.zone == nil ? address : address.scoped(to: nil)
    self.port = port
    self.scope = address.family == .ipv6 ? scope : 0
  }

  /// Reads what the kernel has written; nil for a family that is neither or for too few bytes. An IPv4-mapped IPv6
  /// address becomes the IPv4 address.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= MemoryLayout<sockaddr_in>.size else { return nil }
    switch unsafe Int32(bytes.loadUnaligned(as: sa_family_t.self)) {
    case AF_INET:
      let raw = unsafe bytes.loadUnaligned(as: sockaddr_in.self)
      self.init(IPAddress(ipv4: UInt32(bigEndian: raw.sin_addr.s_addr)), port: UInt16(bigEndian: raw.sin_port))
    case AF_INET6 where bytes.count >= MemoryLayout<sockaddr_in6>.size:
      let raw = unsafe bytes.loadUnaligned(as: sockaddr_in6.self)
      let words = unsafe bytes.loadUnaligned(
        fromByteOffset: MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr) ?? 8, as: (UInt64, UInt64).self)
      self.init(
        IPAddress(ipv6High: UInt64(bigEndian: words.0), low: UInt64(bigEndian: words.1)),
        port: UInt16(bigEndian: raw.sin6_port), scope: raw.sin6_scope_id)
    default: return nil
    }
  }

  /// Lends the address as the pointer and length that connect(2) and bind(2) take.
  func withUnsafeAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    if let bits = address.ipv4Bits {
      var raw = sockaddr_in()
      raw.sin_family = sa_family_t(AF_INET)
      raw.sin_port = port.bigEndian
      raw.sin_addr.s_addr = bits.bigEndian
      return unsafe lend(&raw, body)
    }
    var raw = sockaddr_in6()
    raw.sin6_family = sa_family_t(AF_INET6)
    raw.sin6_port = port.bigEndian
    raw.sin6_scope_id = scope
    unsafe withUnsafeMutableBytes(of: &raw.sin6_addr) { bytes in
      unsafe bytes.storeBytes(of: address.high.bigEndian, as: UInt64.self)
      unsafe bytes.storeBytes(of: address.low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }
    return unsafe lend(&raw, body)
  }
}

private func lend<Raw, Result>(
  _ raw: inout Raw, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
) -> Result {
  unsafe withUnsafePointer(to: &raw) { pointer in
    unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      unsafe body($0, socklen_t(MemoryLayout<Raw>.size))
    }
  }
}
