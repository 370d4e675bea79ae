import CReachLinux
import ReachCore

@testable import DNSProbe
@testable import ReachNetlink

/// A host's kernel and the network around it, which exist on paper only. Whatever happens in it comes of a script; what
/// it tells comes as bytes, and what it is asked it answers as the time of the question has it.
final class World {
  struct Route: Hashable {
    var network: Network
    /// The place of the interface it leads out of; nil for a route that refuses.
    var place: Int?
    var refusal: Reason?
    var gateway: IPAddress?
    var metric: Int
  }

  /// How a host answers to a connection.
  enum Answer: Hashable {
    case open
    case refused
    case silent
    case failed(Reason)
  }

  /// How the resolver answers.
  enum Resolver: Hashable {
    case answers
    case silent
    case failed(Reason)
  }

  // MARK: The kernel

  var interfaces: [Interface?]
  var routes: [Route]
  /// A rule that prohibits everything.
  var isProhibited = false
  /// `ignore_routes_with_linkdown`.
  var ignoresRoutesWithLinkDown = false
  private(set) var lastIndex: Int32 = 1

  /// Messages that wait to be read.
  private var queue: [[UInt8]] = []
  private var hasLost = false
  /// How many messages may wait.
  var capacity = 64
  /// When the first message that waits can be read; `.max` for none.
  private(set) var readableAt = Int64.max
  /// How long the kernel takes to hand over a message.
  var latency: Int64 = 0

  // MARK: The network

  var answers = [Answer](repeating: .open, count: Place.allCases.count)
  var delays = [Int64](repeating: 2 * Time.millisecond, count: Place.allCases.count)
  var resolver = Resolver.answers
  var resolverDelay: Int64 = 3 * Time.millisecond
  /// The addresses that the name has.
  var addresses: [Place] = [.web, .web6]
  var ttl = Duration.seconds(20)
  /// What the agent's resolver remembers.
  var answered = AnswerCache(capacity: 8)

  // MARK: Faults of this host

  /// No descriptor is to be had.
  var lacksDescriptors = false
  /// No memory is to be had.
  var lacksMemory = false
  /// The kernel refuses to answer questions.
  var refusesQuestions = false
  /// How many readings of all interfaces are disturbed.
  var disturbedReadings = 0
  /// A connection that is begun before this time never comes back by itself.
  var stuckUntil = Int64.min
  /// How often all that was under way has been cut off, as by a suspend.
  var cuts = 0

  static let names = ["eth0", "eth1", "wwan0"]

  init() {
    interfaces = (0..<3).map { Interface(place: $0, index: Int32($0) + 2, name: Self.names[$0]) }
    lastIndex = 4
    routes = Self.ordinaryRoutes
  }

  /// The routes of an undisturbed host.
  static let ordinaryRoutes: [Route] =
    (0..<3).map { Route(network: .onLink($0), place: $0, metric: 0) } + [
      Route(network: .defaultIPv4, place: 0, gateway: gateway(0), metric: 100),
      Route(network: .defaultIPv6, place: 0, gateway: IPAddress(ipv6High: 0xfe80 << 48, low: 1), metric: 100),
      Route(network: .branch, place: 1, gateway: gateway(1), metric: 100),
    ]

  /// A second way out.
  static let modemRoute = Route(network: .defaultIPv4, place: 2, gateway: gateway(2), metric: 300)

  static func gateway(_ place: Int) -> IPAddress { IPAddress(ipv4: 0x0a00_0001 | UInt32(place) << 16) }

  func newIndex() -> Int32 {
    lastIndex += 1
    return lastIndex
  }

  // MARK: Messages

  func tell(_ bytes: [UInt8], at now: Int64) {
    guard queue.count < capacity else {
      hasLost = true
      return
    }
    queue.append(bytes)
    readableAt = min(readableAt, now + latency)
  }

  enum Received {
    case bytes([UInt8])
    case loss
    case nothing
  }

  /// Hands over what waits, one after another; the loss is told first, as recvfrom(2) does.
  func receive() -> Received {
    readableAt = .max
    if hasLost {
      hasLost = false
      return .loss
    }
    return queue.isEmpty ? .nothing : .bytes(queue.removeFirst())
  }

  /// The process is another one: it has a new socket, and remembers no answer.
  func forget() {
    queue = []
    hasLost = false
    readableAt = .max
    answered = AnswerCache(capacity: 8)
  }

  /// Whether what the kernel has told was, or can be, read.
  var isHeard: Bool { queue.isEmpty && !hasLost }

  /// All interfaces.
  var table: [LinkAttributes] { interfaces.compactMap { $0?.attributes } }

  /// The interface of that name.
  func interface(named name: String) -> Interface? { interfaces.lazy.compactMap { $0 }.first { $0.name == name } }
}
