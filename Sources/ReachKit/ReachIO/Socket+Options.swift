internal import CReachLinux
internal import Glibc
public import ReachCore

extension Socket {
  /// Makes close(2) send a reset at once rather than end the connection in order (SO_LINGER with a time of 0, socket(7)),
  /// so that no TIME_WAIT stays behind.
  public func resetOnClose() {
    var value = linger(l_onoff: 1, l_linger: 0)
    _ = unsafe setsockopt(number, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size))
  }

  /// Keeps to the interface of that name (SO_BINDTODEVICE, socket(7)). Throws `ENODEV` when there is none, `EPERM`
  /// without CAP_NET_RAW on a kernel before 5.7.
  public func bindToDevice(_ name: String) throws(SystemError) {
    let length = name.utf8.count
    let code = unsafe name.withCString {
      unsafe setsockopt(number, SOL_SOCKET, SO_BINDTODEVICE, $0, socklen_t(clamping: length))
    }
    if code != 0 { throw SystemError.current("setsockopt(SO_BINDTODEVICE)") }
  }

  /// Marks every packet for policy routing and firewalls (SO_MARK, socket(7)). Throws `EPERM` without CAP_NET_ADMIN, or
  /// CAP_NET_RAW from Linux 5.17 on.
  public func setMark(_ mark: UInt32) throws(SystemError) {
    try setOption(SOL_SOCKET, SO_MARK, to: Int32(bitPattern: mark), call: "setsockopt(SO_MARK)")
  }

  /// Lets bind(2) leave the choice of the port to connect(2), which can share one among different peers
  /// (IP_BIND_ADDRESS_NO_PORT, ip(7)). Older kernels than 4.2 choose in bind(2) as before.
  public func bindsAddressAlone() {
    try? setOption(Int32(IPPROTO_IP), IP_BIND_ADDRESS_NO_PORT, to: 1, call: "setsockopt(IP_BIND_ADDRESS_NO_PORT)")
  }

  /// Asks for ICMP errors with their type and code, and at once rather than at the next time-out (IP_RECVERR in ip(7),
  /// IPV6_RECVERR in ipv6(7)). Without it they are told apart less finely, no more.
  public func queuesErrors(_ family: IPAddress.Family) {
    switch family {
    case .ipv4: try? setOption(Int32(IPPROTO_IP), IP_RECVERR, to: 1, call: "setsockopt(IP_RECVERR)")
    case .ipv6: try? setOption(Int32(IPPROTO_IPV6), IPV6_RECVERR, to: 1, call: "setsockopt(IPV6_RECVERR)")
    }
  }

  /// Takes the next error off the queue that `queuesErrors` has opened; nil when it is empty.
  public func takeQueuedError() -> QueuedError? {
    var raw = CReachLinux_QueuedError()
    guard unsafe CReachLinux_next_queued_error(number, &raw) == 0 else { return nil }
    let offender = unsafe withUnsafeBytes(of: &raw.offender) { bytes in
      unsafe IPAddress(octets: bytes.prefix(Int(raw.offender_length)))
    }
    let isICMP = raw.origin == UInt8(SO_EE_ORIGIN_ICMP) || raw.origin == UInt8(SO_EE_ORIGIN_ICMP6)
    return QueuedError(
      code: FaultCode(errno: Int32(truncatingIfNeeded: raw.code)),
      icmp: isICMP ? QueuedError.ICMP(type: raw.type, code: raw.icmp_code) : nil, offender: offender)
  }

  /// What the kernel knows of a TCP connection (TCP_INFO, tcp(7)). Throws what getsockopt(2) failed with.
  public func tcpInfo() throws(SystemError) -> TCPInfo {
    var raw = CReachLinux_TCPInfo()
    let code = unsafe CReachLinux_tcp_info(number, &raw)
    if code != 0 { throw SystemError("getsockopt(TCP_INFO)", FaultCode(errno: code)) }
    return TCPInfo(
      state: TCPInfo.State(raw.state), roundTrip: raw.round_trip_us == 0 ? nil : .microseconds(raw.round_trip_us),
      retransmits: raw.total_retransmits)
  }
}

/// An error that the network or the kernel has put into a socket's error queue.
public struct QueuedError: Hashable, Sendable {
  /// The type and code of an ICMP or ICMPv6 message, which of the two being the socket's family.
  public struct ICMP: Hashable, Sendable {
    /// The type.
    public let type: UInt8
    /// The code.
    public let code: UInt8
    /// A type and a code.
    public init(type: UInt8, code: UInt8) {
      self.type = type
      self.code = code
    }
  }

  /// The errno that the kernel makes of it.
  public let code: FaultCode
  /// The ICMP message; nil for an error of this host's own.
  public let icmp: ICMP?
  /// Who sent the message, when the kernel says so.
  public let offender: IPAddress?

  /// An error.
  public init(code: FaultCode, icmp: ICMP?, offender: IPAddress?) {
    self.code = code
    self.icmp = icmp
    self.offender = offender
  }
}

/// What the kernel knows of a TCP connection.
public struct TCPInfo: Hashable, Sendable {
  /// How far the connection has come, as far as one that is only opened needs to know.
  public enum State: Hashable, Sendable {
    /// TCP_SYN_SENT or TCP_SYN_RECV: the handshake is under way.
    case connecting
    /// TCP_ESTABLISHED, or TCP_CLOSE_WAIT: the handshake is done, even if the peer has since ended its half.
    case open
    /// Any other: there is no connection, or none any more.
    case closed

    // The numbers are those of the kernel's include/net/tcp_states.h, which tcp(7) exposes in tcpi_state.
    init(_ number: UInt8) {
      switch number {
      case 1, 8: self = .open
      case 2, 3: self = .connecting
      default: self = .closed
      }
    }
  }

  /// How far it has come.
  public let state: State
  /// The smoothed round-trip time, in whole microseconds; nil before the first measurement.
  public let roundTrip: Duration?
  /// How many segments were sent again, the SYN included.
  public let retransmits: UInt32
}
