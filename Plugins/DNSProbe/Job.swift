internal import ReachCore
internal import ReachIO
internal import ReachProbe

/// One resolution under way, with all who wait for it. Touched on the loop alone.
final class Job {
  /// One probe that waits.
  struct Waiter {
    let number: UInt64
    var deadline: Instant
    let log: (any ProbeLog)?
    let continuation: CheckedContinuation<DNSFinding, Never>
  }

  let number: UInt64
  let key: AnswerCache.Key
  let servers: [Nameserver]
  let families: [IPAddress.Family]
  /// The state of the system's configuration it was begun under.
  let generation: Int
  var resolution: Resolution
  var waiters: [Waiter] = []
  var exchanges: [Exchange] = []
  var timer: (id: TimerID, due: Instant)?
  /// Queries that went out.
  var attempts = 0
  /// The servers that were turned to, in order.
  private(set) var asked: [IPAddress] = []

  init(
    number: UInt64, key: AnswerCache.Key, servers: [Nameserver], families: [IPAddress.Family], generation: Int,
    resolution: Resolution
  ) {
    self.number = number
    self.key = key
    self.servers = servers
    self.families = families
    self.generation = generation
    self.resolution = resolution
  }

  /// Notes that the server is turned to.
  func asks(_ server: Nameserver) { if !asked.contains(server.address) { asked.append(server.address) } }

  /// The servers that were turned to; the one that answered first.
  var serversInOrder: [IPAddress] {
    guard let index = resolution.answeredBy, servers.indices.contains(index) else { return asked }
    let first = servers[index].address
    return [first] + asked.filter { $0 != first }
  }

  /// Whether anybody listens to what is being done.
  var isLogged: Bool { waiters.contains { $0.log != nil } }

  /// Tells everybody who listens. The line is only made when somebody does.
  func note(_ line: @autoclosure () -> String) {
    guard isLogged else { return }
    let text = line()
    for waiter in waiters { waiter.log?.note(text) }
  }
}
