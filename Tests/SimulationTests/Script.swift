import ReachCore
import ReachScheduler

/// What may go wrong in a simulation.
struct Trouble: OptionSet {
  let rawValue: UInt32

  /// Carriers come and go, interfaces are set down and up, wait, or flap.
  static let links = Trouble(rawValue: 1)
  /// Routes, rules, next hops and settings change.
  static let routes = Trouble(rawValue: 2)
  /// Addresses come and go, interfaces are renamed, taken out and put back.
  static let interfaces = Trouble(rawValue: 4)
  /// Hosts refuse, fall silent, are slow, or routers say that there are none.
  static let hosts = Trouble(rawValue: 8)
  /// The resolver fails, is slow or silent, and its answers change.
  static let names = Trouble(rawValue: 16)
  /// This host lacks descriptors or memory, or its kernel refuses to answer.
  static let faults = Trouble(rawValue: 32)
  /// The process does not run for a while.
  static let stall = Trouble(rawValue: 64)
  /// The host sleeps for a while.
  static let suspend = Trouble(rawValue: 128)
  /// Messages of the kernel are lost, and readings disturbed.
  static let loss = Trouble(rawValue: 256)
  /// Backends do not come back in time.
  static let stuck = Trouble(rawValue: 512)
  /// Routes change without a word.
  static let secrets = Trouble(rawValue: 1024)
  /// Few rounds may run together.
  static let scarcity = Trouble(rawValue: 2048)

  /// The agent is stopped or killed, and started again.
  static let restart = Trouble(rawValue: 4096)

  /// What may leave a target without evidence.
  static let ownFaults: Trouble = [.faults, .stall, .suspend, .stuck, .scarcity]

  private static let all: [Trouble] = [
    .links, .routes, .interfaces, .hosts, .names, .faults, .stall, .suspend, .loss, .stuck, .secrets, .scarcity,
    .restart,
  ]

  /// Troubles of a kind that leave it to chance which.
  init(_ random: inout Seeded) {
    var trouble: Trouble = []
    if !random.chance(4) {
      let likelihood = random.pick([15, 30, 60])
      for kind in Self.all where random.chance(likelihood) { trouble.insert(kind) }
    }
    self = trouble
  }

  init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Its kinds, one by one.
  var kinds: [Trouble] { Self.all.filter { contains($0) } }
}

/// The targets of a simulation.
enum Cast {
  static func targets(_ random: inout Seeded, base: Duration) -> [Target] {
    var targets: [Target] = []
    var pool = Array(0..<11)
    for _ in 0..<random.pick([1, 1, 2, 2, 3]) {
      targets.append(target(pool.remove(at: random.below(pool.count)), policy(&random, base)))
    }
    return targets
  }

  private static func target(_ number: Int, _ policy: TargetPolicy) -> Target {
    switch number {
    case 0: return Target(name: "web", kind: .address(Place.web.address), port: 443, policy: policy)
    case 1: return Target(name: "mirror", kind: .address(Place.mirror.address), port: 443, policy: policy)
    case 2: return Target(name: "web6", kind: .address(Place.web6.address), port: 443, policy: policy)
    case 3: return Target(name: "store", kind: .address(Place.store.address), port: 5432, policy: policy)
    case 4: return Target(name: "neighbour", kind: .address(Place.neighbour.address), port: 22, policy: policy)
    case 5: return Target(name: "branch", kind: .address(Place.store.address), policy: policy)
    case 6:
      let name = HostName(query: "www.example.com", display: "www.example.com")
      return Target(name: "name", kind: .host(name), port: 443, policy: policy)
    case 7:
      let name = HostName(query: "example.com", display: "example.com")
      return Target(name: "name without port", kind: .host(name), policy: policy)
    case 8: return Target(name: "default", kind: .defaultPath, policy: policy)
    case 9: return Target(name: "interface", kind: .interface("eth1"), policy: policy)
    default:
      let source = SourceBinding(interface: "eth1")
      return Target(name: "bound", kind: .address(Place.other.address), port: 80, source: source, policy: policy)
    }
  }

  private static func policy(_ random: inout Seeded, _ base: Duration) -> TargetPolicy {
    var policy = TargetPolicy()
    policy.interval = random.pick([base, base, base * 2])
    policy.timeout = min(policy.interval, random.pick([.milliseconds(500), .seconds(1), .seconds(3), .seconds(5)]))
    policy.fall = 1 + random.below(3)
    policy.rise = random.pick([1, 1, 1, 1, 2, 3])
    policy.unknownAfter = 1 + random.below(3)
    policy.hold = random.pick([.zero, .zero, .zero, .seconds(2)])
    policy.tcp = random.pick([.service, .service, .host, .advisory])
    return policy
  }
}
