internal import CReachTestSupport
internal import Glibc
public import ReachCore
public import ReachIO

/// A TCP port of this host, or of a peer's namespace when it is made within `NetworkNamespace.perform`, that behaves
/// in one known way for as long as this value lives. The kernel chooses its number, unless the test does.
public final class TestPort: Sendable {
  /// How a port behaves.
  public enum Behaviour: Hashable, Sendable {
    /// Connections are accepted by the kernel. Nobody reads from them; `accept()` hands them out.
    case open
    /// Nobody listens and the kernel refuses; nobody else can take the port meanwhile.
    case closed
    /// Somebody listens but never accepts and the backlog is full: the kernel drops what comes, so that connecting to
    /// it takes until the deadline.
    case full
  }

  /// The address it is bound to.
  public let address: IPAddress
  /// Its number.
  public let number: UInt16
  /// The descriptor of the listening socket, nonblocking.
  public var descriptor: Int32 { socket.number }

  private let socket: Descriptor
  private let filler: Int32

  /// A port that behaves so. Throws what socket(2), bind(2), listen(2) or connect(2) failed with.
  ///
  /// A link-local IPv6 address needs its zone, as a number. To name the port is for networks of a test's own.
  public init(
    _ behaviour: Behaviour, on address: IPAddress = .loopback, number: UInt16 = 0
  ) throws(SystemError) {
    let octets = address.octets
    let scope = address.zone.flatMap { UInt32($0) } ?? 0
    var port = number
    let code = unsafe CReachTestSupport_bind_tcp(octets, Int32(octets.count), scope, &port)
    if code < 0 { throw SystemError("bind", FaultCode(errno: -code)) }
    let socket = Descriptor(owning: code)
    var filler: Int32 = -1
    if behaviour != .closed {
      // A backlog of 0 holds one connection.
      _ = try retryingInterrupts("listen") { listen(code, behaviour == .full ? 0 : 4096) }
    }
    if behaviour == .full {
      filler = unsafe CReachTestSupport_begin_tcp(octets, Int32(octets.count), scope, port)
      if filler < 0 { throw SystemError("connect", FaultCode(errno: -filler)) }
      guard CReachTestSupport_wait_readable(code, 10_000) == 1 else {
        close(filler)
        throw SystemError("poll", FaultCode(errno: ETIMEDOUT))
      }
    }
    self.address = address
    self.number = port
    self.socket = socket
    self.filler = filler
  }

  deinit { if filler >= 0 { close(filler) } }

  /// A connection that has been made to the port, itself a blocking one; nil when there is none. Does not wait.
  public func accept() throws(SystemError) -> Descriptor? {
    do {
      return Descriptor(owning: try retryingInterrupts("accept") { Glibc.accept(socket.number, nil, nil) })
    } catch  where error.code.errno == EAGAIN {
      return nil
    }
  }
}

extension TestPort {
  /// Waits for a connection, and returns its nonblocking socket, which the caller closes.
  public func acceptNext(on loop: EventLoop) async throws -> Socket {
    while true {
      if let connection = try accept() {
        _ = fcntl(connection.number, F_SETFL, O_NONBLOCK)
        return Socket(number: connection.release())
      }
      if try await loop.wait(on: descriptor, for: .readable, until: .distantFuture) == .cancelled {
        throw SystemError("accept", FaultCode(errno: ECANCELED))
      }
    }
  }
}

extension IPAddress {
  /// 127.0.0.1.
  public static let loopback = IPAddress(ipv4: 0x7f00_0001)
  /// ::1.
  public static let loopback6 = IPAddress(ipv6High: 0, low: 1)
}

extension IPAddress: @retroactive ExpressibleByStringLiteral {
  /// The address that a test writes as text; a text that is none is the test's mistake and traps.
  public init(stringLiteral text: String) {
    do { self = try IPAddress(parsing: text) } catch { preconditionFailure("\(error)") }
  }
}
