internal import CCares
internal import Glibc
internal import ReachCore
internal import ReachIO

/// Binds a socket as a target asks for (socket(7), bind(2)).
enum SourceSocket {
  /// Binds to the device, the mark and the address of `source`. Throws what the first call that failed left.
  static func bind(_ descriptor: Int32, to source: SourceBinding, family: IPAddress.Family) throws(SystemError) {
    let socket = Socket(number: descriptor)
    if let interface = source.interface { try socket.bindToDevice(interface) }
    if let mark = source.mark { try socket.setMark(mark) }
    guard let address = source.address, address.family == family else { return }
    if try bind(descriptor, to: address) != 0 { throw .current("bind") }
  }

  private static func bind(_ descriptor: Int32, to address: IPAddress) throws(SystemError) -> Int32 {
    let octets = address.octets
    if address.family == .ipv4 {
      var local = sockaddr_in()
      local.sin_family = sa_family_t(AF_INET)
      unsafe withUnsafeMutableBytes(of: &local.sin_addr) { unsafe $0.copyBytes(from: octets) }
      return unsafe bindPointer(descriptor, &local, MemoryLayout<sockaddr_in>.size)
    }
    var local = sockaddr_in6()
    local.sin6_family = sa_family_t(AF_INET6)
    unsafe withUnsafeMutableBytes(of: &local.sin6_addr) { unsafe $0.copyBytes(from: octets) }
    if let zone = address.zone { local.sin6_scope_id = UInt32(zone) ?? (unsafe if_nametoindex(zone)) }
    return unsafe bindPointer(descriptor, &local, MemoryLayout<sockaddr_in6>.size)
  }

  private static func bindPointer(_ descriptor: Int32, _ address: UnsafeRawPointer, _ size: Int) -> Int32 {
    unsafe Glibc.bind(descriptor, address.assumingMemoryBound(to: sockaddr.self), socklen_t(size))
  }
}
