internal import ReachCore
internal import ReachIO
internal import ReachProbe

/// The channels: one in use for each server and way of asking, and those that still end their last queries.
///
/// A UDP socket serves many queries, which is what makes a query cheap. It is replaced when a server stays silent on
/// it, when the kernel refuses to send on it (its local address may have gone), and after some hundreds of queries, so
/// that neither a stale path nor a guessed port lasts. How many are open is bounded by an allowance that all pools of
/// the process share. Touched on the loop alone.
struct ChannelPool {
  /// A reply, and whom it concerns.
  struct Arrival {
    let job: UInt64
    let ticket: Resolution.Ticket
    let server: Nameserver
    let typeName: String
    let reply: DNSReply
  }

  /// Makes the handler for a channel's sockets, given the channel's number.
  typealias HandlerMaker = (UInt64) -> @Sendable (Int32, Readiness) -> Void

  private static let mostQueriesPerSocket = 512

  private let loop: EventLoop
  private let allowance: SocketAllowance
  /// The number that the allowance knows this pool by.
  private let holder: Int
  private var current: [ChannelKey: Channel] = [:]
  private var open: [UInt64: Channel] = [:]
  private var arrivals: [Arrival] = []
  private var arrivalsTaken = 0
  private var lastNumber: UInt64 = 0

  init(loop: EventLoop, allowance: SocketAllowance, holder: Int) {
    self.loop = loop
    self.allowance = allowance
    self.holder = holder
  }

  /// How many channels are open.
  var count: Int { open.count }

  /// Whether c-ares holds queries that nobody waits for.
  var needsSweep: Bool { open.values.contains { $0.core.held > $0.core.awaited } }

  /// What came of sending a query.
  enum Sending {
    /// It is under way.
    case sent(Exchange)
    /// It could not even be tried; the reason arrives as its reply.
    case failed
    /// It has to wait until a socket is given back.
    case deferred
  }

  /// Sends a query.
  mutating func send(
    _ order: Resolution.Order, for job: UInt64, to key: ChannelKey, handler: HandlerMaker
  ) -> Sending {
    var isLastTry = false
    var hasMadeRoom = false
    while true {
      let channel: Channel
      do throws(LocalFault) {
        channel = try self.channel(for: key, handler: handler)
      } catch {
        add(.fault(error), order, job, key.server)
        return .failed
      }
      let isReused = channel.sent > 0
      let exchange = Exchange(job: job, order: order, channel: channel.core)
      channel.send(exchange)
      guard exchange.isDone else {
        collect(channel)
        return .sent(exchange)
      }
      if channel.core.isShort {
        dismiss(exchange, of: channel)
        if !hasMadeRoom, makeRoom(keeping: channel) {
          hasMadeRoom = true
          continue
        }
        allowance.wait(as: holder)
        return .deferred
      }
      guard isReused, !isLastTry, key.transport == .udp else {
        collect(channel)
        return .failed
      }
      // What the old socket said of this query is not believed.
      dismiss(exchange, of: channel)
      retire(channel)
      isLastTry = true
    }
  }

  /// Takes what has come in on the channel but what concerns that query.
  private mutating func dismiss(_ exchange: Exchange, of channel: Channel) {
    for arrival in channel.core.takeArrivals() where arrival.exchange !== exchange {
      add(arrival.reply, arrival.exchange)
    }
  }

  /// Closes sockets that nobody waits for an answer on, here or elsewhere. Returns whether there are free ones then.
  private mutating func makeRoom(keeping channel: Channel) -> Bool {
    closeIdle(but: channel)
    return allowance.free > 0 || allowance.reclaim(for: holder)
  }

  /// Closes what is idle where others wait for sockets.
  mutating func yieldIdle() { if allowance.isWanted { closeIdle() } }

  /// Closes every socket that nobody waits for an answer on.
  mutating func closeIdle(but kept: Channel? = nil) {
    for channel in open.values where channel !== kept && channel.core.awaited == 0 {
      if current[channel.core.key] === channel { current[channel.core.key] = nil }
      open[channel.number] = nil
    }
  }

  /// Lets c-ares work on a socket.
  mutating func process(_ number: UInt64, _ descriptor: Int32, _ readiness: Readiness) {
    guard let channel = open[number] else { return }
    channel.process(descriptor, readiness)
    collect(channel)
  }

  /// Takes in what waits in the sockets of the queries that are open.
  mutating func readWaiting(for exchanges: [Exchange]) {
    var seen: Set<UInt64> = []
    for exchange in exchanges where !exchange.isDone && seen.insert(exchange.channel.number).inserted {
      guard let channel = open[exchange.channel.number] else { continue }
      channel.readWaiting()
      collect(channel)
    }
  }

  /// The next reply that has come in.
  mutating func nextArrival() -> Arrival? {
    guard arrivalsTaken < arrivals.count else {
      arrivals.removeAll(keepingCapacity: true)
      arrivalsTaken = 0
      return nil
    }
    defer { arrivalsTaken += 1 }
    return arrivals[arrivalsTaken]
  }

  /// The query has stayed unanswered: when nothing has come since it was sent, its socket is replaced.
  mutating func suspect(_ exchange: Exchange) {
    let core = exchange.channel
    guard core.key.transport == .udp, core.received == exchange.receivedBefore, allowance.free > 0 else { return }
    if let channel = current[core.key], channel.core === core { retire(channel) }
  }

  /// Nobody waits for these queries any more.
  mutating func abandon(_ exchanges: [Exchange]) {
    for exchange in exchanges {
      exchange.channel.abandon(exchange)
      guard let channel = open[exchange.channel.number], channel.core.awaited == 0 else { continue }
      if current[channel.core.key] === channel {
        channel.cancelAbandoned()
      } else {
        open[channel.number] = nil
      }
    }
  }

  /// Lets c-ares give up what is older than its timeout.
  mutating func sweep() {
    for channel in open.values where channel.core.held > 0 {
      channel.sweep()
      collect(channel)
    }
  }

  private mutating func channel(for key: ChannelKey, handler: HandlerMaker) throws(LocalFault) -> Channel {
    if let channel = current[key] {
      if key.transport == .tcp || channel.sent < Self.mostQueriesPerSocket { return channel }
      retire(channel)
    }
    lastNumber += 1
    let channel = try Channel(
      key: key, number: lastNumber, loop: loop, allowance: allowance, onReady: handler(lastNumber))
    current[key] = channel
    open[lastNumber] = channel
    return channel
  }

  /// Takes no more queries on the channel, and ends it once its last is answered.
  private mutating func retire(_ channel: Channel) {
    if current[channel.core.key] === channel { current[channel.core.key] = nil }
    if channel.core.awaited == 0 { open[channel.number] = nil }
  }

  private mutating func collect(_ channel: Channel) {
    for arrival in channel.core.takeArrivals() { add(arrival.reply, arrival.exchange) }
    if channel.core.awaited == 0, current[channel.core.key] !== channel { open[channel.number] = nil }
  }

  private mutating func add(_ reply: DNSReply, _ exchange: Exchange) {
    arrivals.append(
      Arrival(
        job: exchange.job, ticket: exchange.ticket, server: exchange.channel.key.server,
        typeName: exchange.question.typeName, reply: reply))
  }

  private mutating func add(_ reply: DNSReply, _ order: Resolution.Order, _ job: UInt64, _ server: Nameserver) {
    arrivals.append(
      Arrival(job: job, ticket: order.ticket, server: server, typeName: order.question.typeName, reply: reply))
  }
}
