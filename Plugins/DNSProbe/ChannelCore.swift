internal import CCares
internal import Glibc
internal import ReachCore
internal import ReachIO
internal import ReachProbe

/// What the functions that c-ares calls work on: one channel's sockets and open queries. Touched on the loop alone.
final class ChannelCore {
  /// Whom the channel talks to, and how.
  let key: ChannelKey
  /// The channel's number.
  let number: UInt64
  /// The queries that c-ares holds, by their number, so that a datagram finds its query whatever c-ares thinks of it.
  /// Some versions give one number to several queries at a time: these are chained.
  private var exchangesByID: [UInt16: Exchange] = [:]
  /// The query that c-ares is being given right now.
  var sending: Exchange?
  /// The error of the last system call that failed since c-ares was entered.
  private(set) var lastError: SystemError?
  /// What has come in and is not yet passed on.
  private(set) var arrivals: [(exchange: Exchange, reply: DNSReply)] = []
  /// Queries that c-ares has not called back for.
  var held = 0
  /// Of those, the ones somebody waits for.
  var awaited = 0
  /// Replies to queries of this channel, of whatever kind.
  private(set) var received = 0

  /// Whether a socket was wanted since c-ares was entered, and there was none to be had from the allowance.
  private(set) var isShort = false

  private let loop: EventLoop
  private let allowance: SocketAllowance
  private let onReady: @Sendable (Int32, Readiness) -> Void
  private var sockets: [Socket] = []

  private struct Socket {
    let descriptor: Int32
    let watch: EventLoop.Watch
    var interest: Readiness
  }

  init(
    key: ChannelKey, number: UInt64, loop: EventLoop, allowance: SocketAllowance,
    onReady: @escaping @Sendable (Int32, Readiness) -> Void
  ) {
    self.allowance = allowance
    self.key = key
    self.number = number
    self.loop = loop
    self.onReady = onReady
  }

  /// To be called before c-ares is entered.
  func prepare() {
    lastError = nil
    isShort = false
  }

  /// Notes the errno of this moment as that of `call`.
  func fail(_ call: StaticName) { fail(.current(call)) }

  /// Notes the error.
  func fail(_ error: SystemError) { lastError = error }

  /// Gives up what has come in.
  func takeArrivals() -> [(exchange: Exchange, reply: DNSReply)] {
    defer { arrivals.removeAll(keepingCapacity: true) }
    return arrivals
  }

  /// Passes a reply on to who waits for it, once.
  func deliver(_ reply: DNSReply, to exchange: Exchange) {
    guard !exchange.isDone else { return }
    exchange.isDone = true
    awaited -= 1
    arrivals.append((exchange, reply))
  }

  /// Nobody waits for the exchange any more.
  func abandon(_ exchange: Exchange) {
    guard !exchange.isDone else { return }
    exchange.isDone = true
    awaited -= 1
  }

  /// c-ares is through with the exchange.
  func release(_ exchange: Exchange) {
    held -= 1
    guard let id = exchange.id, let first = exchangesByID[id] else { return }
    if first === exchange {
      exchangesByID[id] = exchange.nextOfSameID
    } else {
      var link = first
      while let next = link.nextOfSameID, next !== exchange { link = next }
      link.nextOfSameID = exchange.nextOfSameID
    }
    exchange.nextOfSameID = nil
  }

  // MARK: Datagrams

  /// A query goes out: remembers its number.
  func willSend(_ first: UInt8, _ second: UInt8) {
    guard key.transport == .udp, let exchange = sending, exchange.id == nil else { return }
    let id = UInt16(first) << 8 | UInt16(second)
    exchange.id = id
    exchange.nextOfSameID = exchangesByID[id]
    exchangesByID[id] = exchange
  }

  /// Whether c-ares is to see the datagram. The reply is read here, since c-ares drops what it cannot understand
  /// without a word, and answers FORMERR by asking again by itself. A number that no query has is a forgery or a
  /// latecomer and means nothing.
  func received(_ bytes: [UInt8]) -> Bool {
    let message = DNSMessage(bytes)
    guard let id = message.id else { return true }
    var candidate = exchangesByID[id]
    var misfit: Exchange?
    while let exchange = candidate {
      candidate = exchange.nextOfSameID
      guard !exchange.isDone else { continue }
      let reply = message.reply(to: exchange.question)
      if reply == .failed(.dnsMalformed) {
        misfit = exchange
        continue
      }
      received += 1
      deliver(reply, to: exchange)
      return reply != .formatError
    }
    if let misfit {
      received += 1
      deliver(.failed(.dnsMalformed), to: misfit)
    }
    return true
  }

  // MARK: Sockets

  /// A new socket, within the allowance; -1 when there is none to be had, with the reason noted.
  func open(family: Int32, type: Int32) -> Int32 {
    guard allowance.take(upTo: 1) == 1 else {
      isShort = true
      fail(SystemError("socket", FaultCode(errno: EMFILE)))
      return -1
    }
    let flags = Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = socket(family, type | flags, 0)
    if descriptor < 0 {
      fail("socket")
      allowance.giveBack(1)
    }
    return descriptor
  }

  /// The sockets that are read from: a UDP socket always, a TCP socket once it is no longer being connected.
  var readDescriptors: [Int32] { sockets.filter { $0.interest == .readable }.map(\.descriptor) }

  /// c-ares wants to hear of a socket.
  func watch(_ descriptor: Int32, readable: Bool, writable: Bool) {
    var interest: Readiness = []
    if readable { interest.insert(.readable) }
    if writable { interest.insert(.writable) }
    // A socket that is no longer of interest is about to be closed, which ends the watch.
    guard !interest.isEmpty else { return }
    do throws(SystemError) {
      if let index = sockets.firstIndex(where: { $0.descriptor == descriptor }) {
        guard sockets[index].interest != interest else { return }
        try loop.change(sockets[index].watch, to: interest)
        sockets[index].interest = interest
      } else {
        let onReady = self.onReady
        let watch = try loop.watch(descriptor, for: interest) { onReady(descriptor, $0) }
        sockets.append(Socket(descriptor: descriptor, watch: watch, interest: interest))
      }
    } catch {
      lastError = error
    }
  }

  /// Empties the error queue of a socket that c-ares has kept in spite of an error: while something is in it the
  /// socket goes on being reported.
  func drainErrors(_ descriptor: Int32) {
    guard key.transport == .udp, sockets.contains(where: { $0.descriptor == descriptor }) else { return }
    ErrorQueue.drain(descriptor)
  }

  /// Closes a socket of c-ares'. A TCP connection is reset: the answer is here, and nothing is to linger in TIME_WAIT.
  func close(_ descriptor: Int32) -> Int32 {
    if let index = sockets.firstIndex(where: { $0.descriptor == descriptor }) {
      loop.forget(sockets.remove(at: index).watch)
    }
    if key.transport == .tcp {
      var option = linger(l_onoff: 1, l_linger: 0)
      _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }
    let result = Glibc.close(descriptor)
    allowance.giveBack(1)
    return result
  }
}
