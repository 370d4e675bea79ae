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

  /// Reads `host:port`, `[v6]:port`, `:port` or `unix:/PATH`. A host is an address, or `localhost` for 127.0.0.1: no
  /// name is looked up.
  public init(parsing text: String) throws(ListenAddressError) {
    if text.hasPrefix("unix:") {
      let path = String(text.dropFirst("unix:".count))
      guard path.hasPrefix("/") else {
        throw ListenAddressError("'\(text)' needs an absolute path, such as unix:/run/reachd/reachd.sock")
      }
      guard path.utf8.count <= 107, !path.utf8.contains(0) else {
        throw ListenAddressError("'\(text)' is too long: the path of a Unix socket has at most 107 bytes")
      }
      self = .unix(path: path)
      return
    }
    guard let colon = text.lastIndex(of: ":") else {
      throw ListenAddressError("'\(text)' has no port: write host:port, [v6]:port, :port or unix:/PATH")
    }
    let digits = text[text.index(after: colon)...]
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }), let port = UInt16(digits) else {
      throw ListenAddressError("'\(text)' has no usable port: write a number from 0 to 65535 behind the last colon")
    }
    self = try Self.read(host: String(text[..<colon]), port: port, in: text)
  }

  private static func read(host: String, port: UInt16, in text: String) throws(ListenAddressError) -> ListenAddress {
    if host.isEmpty { return .anyAddress(port: port) }
    if host == "localhost" { return .address(IPAddress(ipv4: 0x7f00_0001), port: port) }
    let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
    let bare = isBracketed ? String(host.dropFirst().dropLast()) : host
    guard isBracketed == bare.utf8.contains(UInt8(ascii: ":")) else {
      throw ListenAddressError("'\(text)' is ambiguous: an IPv6 address stands in brackets, such as [::1]:10120")
    }
    do {
      return .address(try IPAddress(parsing: bare), port: port)
    } catch {
      throw ListenAddressError(
        "'\(text)' cannot be listened on: \(error); write an address, since names are not looked up")
    }
  }

  /// The form that is read.
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
  public var url: String? {
    switch self {
    case .address(let address, let port):
      address.isUnspecified ? "http://localhost:\(port)/" : "http://\(ListenAddress.address(address, port: port))/"
    case .anyAddress(let port): "http://localhost:\(port)/"
    case .unix, .descriptor: nil
    }
  }
}

/// Why a text is no address to listen on.
public struct ListenAddressError: Error, Hashable, Sendable, CustomStringConvertible {
  /// For people: what is wrong and what to write instead.
  public let description: String
  init(_ description: String) { self.description = description }
}
