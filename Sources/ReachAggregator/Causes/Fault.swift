internal import ReachCore

/// A cause at work: the targets that fail for it, and whether that has been told.
struct Fault {
  let cause: Cause
  /// Its number, which makes its identifier; 0 until somebody asks for that.
  var number: UInt64 = 0
  /// The reason of the nearest layer that a target gave.
  var reason: Reason
  /// When the first target failed for it.
  var since: Instant
  /// When the last one joined.
  var joinedAt: Instant
  /// The targets that fail for it.
  var members: Set<Int> = []
  /// How many of them saw it broken.
  var direct = 0
  /// What must not have worked.
  var witnesses: [Int] = []
  /// The gateway on the way to a name server.
  var way = Place.none
  /// All that it was said to explain; empty until it is announced.
  var explained: Set<Int> = []
  /// Since when it holds; nil when it does not.
  var heldSince: Instant?
  /// When it is to be announced, if it still holds.
  var due: Instant?
  var isAnnounced = false
  var isTouched = false

  init(_ cause: Cause, _ reason: Reason, at now: Instant) {
    self.cause = cause
    self.reason = reason
    since = now
    joinedAt = now
  }
}

extension Cause {
  /// Whether link and route alone show it.
  var isOfPath: Bool {
    switch self {
    case .link, .route: true
    case .gateway, .resolver: false
    }
  }

  /// Whether it is an interface.
  var isLink: Bool { if case .link = self { true } else { false } }

  /// Whether it is a name server.
  var isResolver: Bool { if case .resolver = self { true } else { false } }
}

extension Reason {
  /// Whether it is of a nearer layer.
  func isNearer(than other: Reason) -> Bool { Self.distance(layer) < Self.distance(other.layer) }

  private static func distance(_ layer: Layer) -> Int {
    switch layer {
    case .config: 0
    case .link: 1
    case .route: 2
    case .dns: 3
    case .tcp: 4
    case .local: 5
    }
  }
}
