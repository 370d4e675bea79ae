internal import CCares
internal import Glibc
internal import ReachCore
internal import ReachIO

/// The functions that c-ares calls: for sockets (ares_set_socket_functions(3)), for interest in them
/// (ARES_OPT_SOCK_STATE_CB) and for answers (ares_query(3)). Making the system calls here keeps each errno, which
/// c-ares folds into one status, and shows every datagram as it came.
///
/// All of them run on the loop, below a call into c-ares, and touch the channel's core only.
enum SocketFunctions {
  /// The table for a new channel.
  static var table: ares_socket_functions {
    unsafe ares_socket_functions(
      asocket: { unsafe SocketFunctions.open(family: $0, type: $1, context: $3) },
      aclose: { unsafe SocketFunctions.core($1)?.close($0) ?? -1 },
      aconnect: { unsafe SocketFunctions.connect($0, $1, $2, context: $3) },
      arecvfrom: { unsafe SocketFunctions.receive($0, $1, $2, from: $4, $5, context: $6) },
      asendv: { unsafe SocketFunctions.send($0, $1, $2, context: $3) })
  }

  /// Interest in a socket has changed.
  static let changed: @convention(c) (UnsafeMutableRawPointer?, Int32, Int32, Int32) -> Void = {
    unsafe SocketFunctions.core($0)?.watch($1, readable: $2 != 0, writable: $3 != 0)
  }

  /// A query has come to its end.
  static let answered:
    @convention(c) (UnsafeMutableRawPointer?, Int32, Int32, UnsafeMutablePointer<UInt8>?, Int32)
      -> Void = { argument, status, _, bytes, count in
        guard let argument = unsafe argument else { return }
        let exchange = unsafe Unmanaged<Exchange>.fromOpaque(argument).takeRetainedValue()
        let core = exchange.channel
        core.release(exchange)
        guard !exchange.isDone else { return }
        let message = unsafe UnsafeBufferPointer(start: bytes, count: bytes == nil ? 0 : Int(max(0, count)))
        if let reply = reply(status, unsafe Array(message), exchange, core) { core.deliver(reply, to: exchange) }
      }

  private static func reply(_ status: Int32, _ message: [UInt8], _ exchange: Exchange, _ core: ChannelCore) -> DNSReply?
  {
    switch CCares_meaning_of(status) {
    case CCares_meaning_answer:
      if message.isEmpty { return .failed(.dnsTransient) }
      let reply = DNSMessage(message).reply(to: exchange.question)
      return reply == .truncated && core.key.transport == .tcp ? .failed(.dnsTruncated) : reply
    case CCares_meaning_timeout: return .timedOut
    case CCares_meaning_malformed: return .failed(.dnsMalformed)
    case CCares_meaning_memory:
      return .fault(LocalFault(.probeError(.resolverMemory), detail: "c-ares, for the name server \(core.key.server)"))
    case CCares_meaning_name:
      return .fault(LocalFault(errno: EINVAL, detail: "the name '\(exchange.question.name)' fits in no query"))
    case CCares_meaning_cancelled: return nil
    default:
      guard let error = core.lastError else { return .closed }
      return SocketErrors.reply(error, server: core.key.server)
    }
  }

  private static func core(_ context: UnsafeMutableRawPointer?) -> ChannelCore? {
    guard let context = unsafe context else { return nil }
    return unsafe Unmanaged<ChannelCore>.fromOpaque(context).takeUnretainedValue()
  }

  // MARK: System calls

  private static func open(family: Int32, type: Int32, context: UnsafeMutableRawPointer?) -> Int32 {
    guard let core = unsafe core(context) else { return -1 }
    let descriptor = core.open(family: family, type: type)
    guard descriptor >= 0 else { return -1 }
    if core.key.transport == .udp { ErrorQueue.enable(descriptor, family: core.key.server.address.family) }
    do throws(SystemError) {
      try SourceSocket.bind(descriptor, to: core.key.source, family: core.key.server.address.family)
    } catch {
      core.fail(error)
      _ = core.close(descriptor)
      return -1
    }
    return descriptor
  }

  private static func connect(
    _ descriptor: Int32, _ address: UnsafePointer<sockaddr>?, _ length: socklen_t, context: UnsafeMutableRawPointer?
  ) -> Int32 {
    guard let core = unsafe core(context), let address = unsafe address else { return -1 }
    var result: Int32
    if let zone = core.key.server.address.zone, length >= socklen_t(MemoryLayout<sockaddr_in6>.size) {
      // Older versions of c-ares know no zones.
      var scoped = unsafe UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in6.self)
      scoped.sin6_scope_id = UInt32(zone) ?? (unsafe if_nametoindex(zone))
      result = unsafe withUnsafePointer(to: &scoped) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe Glibc.connect(descriptor, $0, length)
        }
      }
    } else {
      result = unsafe Glibc.connect(descriptor, address, length)
    }
    if result != 0, errno != EINPROGRESS {
      let number = errno
      core.fail("connect")
      errno = number
    }
    return result
  }

  private static func receive(
    _ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ size: Int, from address: UnsafeMutablePointer<sockaddr>?,
    _ length: UnsafeMutablePointer<socklen_t>?, context: UnsafeMutableRawPointer?
  ) -> Int {
    guard let core = unsafe core(context), let buffer = unsafe buffer else { return -1 }
    let count = unsafe recvfrom(descriptor, buffer, size, 0, address, length)
    if count < 0 {
      let number = errno
      if number != EAGAIN, number != EINTR { core.fail("recv") }
      errno = number == EINTR ? EAGAIN : number
      return -1
    }
    guard core.key.transport == .udp else { return count }
    let bytes = unsafe Array(UnsafeRawBufferPointer(start: buffer, count: count))
    // Some versions take an empty datagram for the end of a connection.
    if !bytes.isEmpty, core.received(bytes) { return count }
    errno = EAGAIN
    return -1
  }

  private static func send(
    _ descriptor: Int32, _ parts: UnsafePointer<iovec>?, _ count: Int32, context: UnsafeMutableRawPointer?
  ) -> Int {
    guard let core = unsafe core(context), let parts = unsafe parts, count > 0 else { return -1 }
    var message = unsafe msghdr()
    unsafe message.msg_iov = UnsafeMutablePointer(mutating: parts)
    unsafe message.msg_iovlen = Int(count)
    if let base = unsafe parts[0].iov_base, unsafe parts[0].iov_len >= 2 {
      let first = unsafe base.loadUnaligned(as: UInt8.self)
      let second = unsafe base.loadUnaligned(fromByteOffset: 1, as: UInt8.self)
      core.willSend(first, second)
    }
    var sent = unsafe sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL))
    if sent < 0, errno == ECONNREFUSED, core.key.transport == .udp {
      // The socket hands over what an earlier datagram met. This one has not been sent.
      sent = unsafe sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL))
    }
    guard sent < 0 else { return sent }
    let number = errno
    if number == EAGAIN, core.key.transport == .udp {
      // The socket's buffer is full: the datagram is lost, as it could be on the way, and is asked again.
      return (0..<Int(count)).reduce(0) { unsafe $0 + parts[$1].iov_len }
    }
    if number != EAGAIN { core.fail("send") }
    errno = number
    return -1
  }
}
