internal import CReachTestSupport
internal import ReachCore
public import ReachIO

/// A nonblocking TCP socket that has begun to connect to the port, from the calling thread's namespace. Throws what
/// connect(2) failed with at once.
public func connecting(to port: TestPort) throws(SystemError) -> Descriptor {
  let octets = port.address.octets
  let scope = port.address.zone.flatMap { UInt32($0) } ?? 0
  let code = unsafe CReachTestSupport_begin_tcp(octets, Int32(octets.count), scope, port.number)
  if code < 0 { throw SystemError("connect", FaultCode(errno: -code)) }
  return Descriptor(owning: code)
}
