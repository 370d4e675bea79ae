internal import CReachTestSupport
internal import Glibc
internal import ReachCore
public import ReachIO

/// A point-to-point interface of the calling thread's namespace (tun) that has a program at its other end: this one,
/// which reads nothing. It goes with this value.
public final class TestTunnel: Sendable {
  private let descriptor: Descriptor

  /// Whether this process may make one; always true where all tests are required.
  public static let isAvailable = TestRequirements.areAllRequired || (unsafe access("/dev/net/tun", R_OK | W_OK)) == 0

  /// An interface of that name, down. Throws what open(2) or TUNSETIFF failed with.
  public init(_ name: String) throws(SystemError) {
    let number = unsafe CReachTestSupport_open_tun(name)
    if number < 0 { throw SystemError("TUNSETIFF", FaultCode(errno: -number)) }
    descriptor = Descriptor(owning: number)
  }
}
