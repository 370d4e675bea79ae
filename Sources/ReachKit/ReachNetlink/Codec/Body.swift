internal import CReachLinux
internal import Glibc
internal import ReachCore

extension RawSpan {
  /// The fixed structure that a message's payload begins with, or nil when the payload is shorter.
  func body<Body: BitwiseCopyable>(_ type: Body.Type, of header: NetlinkHeader) -> Body? {
    guard MemoryLayout<Body>.size <= header.payload.count else { return nil }
    return load(type, at: header.payload.lowerBound)
  }
}

extension AttributeCursor {
  /// The attributes behind a message's fixed structure of that size.
  init(afterBodyOf size: Int, of header: NetlinkHeader) {
    self.init(
      from: header.payload.lowerBound &+ aligned(size), to: header.payload.upperBound, messageType: header.type)
  }
}

extension IPAddress.Family {
  /// The family of AF_INET or AF_INET6; nil for any other.
  init?(socketFamily number: Int32) {
    switch number {
    case AF_INET: self = .ipv4
    case AF_INET6: self = .ipv6
    default: return nil
    }
  }

  /// AF_INET or AF_INET6.
  var socketFamily: UInt8 { UInt8(truncatingIfNeeded: self == .ipv4 ? AF_INET : AF_INET6) }

  /// An address's length in octets.
  var octetCount: Int { self == .ipv4 ? 4 : 16 }
}
