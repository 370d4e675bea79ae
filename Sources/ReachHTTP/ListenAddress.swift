public import ReachCore

/// An address to listen on.
public enum ListenAddress: Hashable, Sendable, CustomStringConvertible {
  /// One address and a port; port 0 lets the kernel choose.
  case address(IPAddress, port: UInt16)
  /// Every address of this host, of both families.
  case anyAddress(port: UInt16)
  /// A Unix socket at this path.
  case unix(path: String)
  /// A listening socket that was inherited, as from systemd (sd_listen_fds(3)); it becomes the server's.
  case descriptor(Int32)

  /// As the configuration writes it.
  public var description: String {
    switch self {
    case .address(let address, let port):
      address.family == .ipv6 ? "[\(address)]:\(port)" : "\(address):\(port)"
    case .anyAddress(let port): ":\(port)"
    case .unix(let path): "unix:\(path)"
    case .descriptor(let number): "descriptor \(number)"
    }
  }

  /// Whether only this host can get there: a Unix socket or a loopback address.
  public var isLocal: Bool {
    switch self {
    case .address(let address, _): address.isLoopback
    case .unix: true
    case .anyAddress, .descriptor: false
    }
  }

  /// Where a browser on this host finds it; nil for a Unix socket.
  public var url: String? { url(isSecure: false) }

  /// Where a browser on this host finds it, with TLS or without; nil for a Unix socket.
  public func url(isSecure: Bool) -> String? {
    let scheme = isSecure ? "https" : "http"
    return switch self {
    case .address(let address, let port):
      address.isUnspecified
        ? "\(scheme)://localhost:\(port)/" : "\(scheme)://\(ListenAddress.address(address, port: port))/"
    case .anyAddress(let port): "\(scheme)://localhost:\(port)/"
    case .unix, .descriptor: nil
    }
  }
}
