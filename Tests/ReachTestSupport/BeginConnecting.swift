internal import CReachTestSupport
public import ReachCore
public import ReachIO

/// A nonblocking TCP socket that has begun to connect to the port, from the calling thread's namespace. Throws what
/// connect(2) failed with at once.
public func connecting(to port: TestPort) throws(SystemError) -> Descriptor {
  try connecting(to: port.address, port.number)
}

/// The same to any address and port; a link-local IPv6 address needs its zone, as a number.
public func connecting(to address: IPAddress, _ port: UInt16) throws(SystemError) -> Descriptor {
  let octets = address.octets
  let scope = address.zone.flatMap { UInt32($0) } ?? 0
  let code = unsafe CReachTestSupport_begin_tcp(octets, Int32(octets.count), scope, port)
  if code < 0 { throw SystemError("connect", FaultCode(errno: -code)) }
  return Descriptor(owning: code)
}
