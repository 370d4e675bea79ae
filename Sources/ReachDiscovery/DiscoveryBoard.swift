internal import ReachConfig
internal import ReachCore

/// What every source has told last, and what comes of it together.
///
/// A list that cannot be had keeps what it had last; one that is gone takes its targets with it. Of targets of one name,
/// a declared one wins, then the one of the source that is listed first.
struct DiscoveryBoard: Sendable {
  /// The most targets of all sources together.
  static let targetLimit = 100_000
  /// The most problems that stand at a time.
  private static let problemLimit = 1_000

  /// One list of a source: a file, or what a server answered.
  private struct Document: Sendable {
    var targets: [ConfiguredTarget] = []
    var problems: [EntryProblem] = []
    /// What was read, for another configuration to make its targets of.
    var list = TargetGroupList(targets: [])
    /// Why it cannot be had now; nil when it can.
    var failure: String?
  }

  private struct Source: Sendable {
    let source: TargetSource
    let assembler: TargetAssembler
    var documents: [String: Document] = [:]
    var failures: UInt64 = 0
    var lastSuccess: Int64?
    var watched = 0
    /// Something about the whole source; nil mostly.
    var notice: String?
    var hasChanged = false
  }

  private var sources: [Source]
  private let declared: Set<String>
  private var standing: Set<DiscoveryEvent> = []

  /// A board on which nothing has been told yet.
  init(_ configuration: Configuration) {
    sources = configuration.sources.map {
      Source(source: $0, assembler: TargetAssembler(configuration, for: $0))
    }
    declared = Set(configuration.targets.map(\.target.name))
  }

  /// What makes targets of the lists of each source, in their order.
  var assemblers: [TargetAssembler] { sources.map(\.assembler) }

  /// Goes on counting where another board is, of the sources that both have.
  mutating func adoptCounts(_ other: DiscoveryBoard) {
    for index in sources.indices {
      guard let known = other.source(named: sources[index].source.name) else { continue }
      sources[index].failures = known.failures
      sources[index].lastSuccess = known.lastSuccess
      sources[index].watched = known.watched
    }
  }

  /// Takes over what another board knows of the sources that both have. Takes long when that is much.
  mutating func adopt(_ other: DiscoveryBoard) {
    adoptCounts(other)
    for index in sources.indices {
      guard let known = other.source(named: sources[index].source.name) else { continue }
      // However the source is asked from now on, what it told last holds until it tells something newer.
      for (origin, document) in known.documents {
        let list = sources[index].assembler.assembled(document.list)
        replace(index, origin, by: list, at: known.lastSuccess)
        sources[index].documents[origin]?.failure = document.failure
      }
      sources[index].hasChanged = false
    }
    standing = other.standing
  }

  private func source(named name: String) -> Source? { sources.first { $0.source.name == name } }

  // MARK: What sources tell

  /// A list was read. `time` is in nanoseconds since 1970 UTC; nil leaves the last success as it was.
  mutating func replace(_ index: Int, _ origin: String, by made: AssembledList, at time: Int64?) {
    guard sources.indices.contains(index) else { return }
    let old = sources[index].documents[origin]
    sources[index].documents[origin] = Document(
      targets: made.targets, problems: made.problems, list: made.list)
    sources[index].lastSuccess = time ?? sources[index].lastSuccess
    if old?.targets != made.targets || old?.failure != nil { sources[index].hasChanged = true }
  }

  /// A list was read and is what it was.
  mutating func confirm(_ index: Int, _ origin: String, at time: Int64) {
    guard sources.indices.contains(index) else { return }
    sources[index].lastSuccess = time
    if sources[index].documents[origin]?.failure != nil { sources[index].hasChanged = true }
    sources[index].documents[origin]?.failure = nil
  }

  /// A list cannot be had now.
  mutating func fail(_ index: Int, _ origin: String, _ problem: String) {
    guard sources.indices.contains(index) else { return }
    sources[index].failures &+= 1
    sources[index].documents[origin, default: Document()].failure = problem
  }

  /// Only these lists of a source are there.
  mutating func keep(_ index: Int, only origins: Set<String>) {
    guard sources.indices.contains(index) else { return }
    for origin in sources[index].documents.keys where !origins.contains(origin) { remove(index, origin) }
  }

  /// A list is gone.
  mutating func remove(_ index: Int, _ origin: String) {
    guard sources.indices.contains(index), let old = sources[index].documents.removeValue(forKey: origin) else {
      return
    }
    if !old.targets.isEmpty { sources[index].hasChanged = true }
  }

  /// Says something about a source as a whole, or that there is nothing to say any more.
  mutating func note(_ index: Int, _ notice: String?) {
    if sources.indices.contains(index) { sources[index].notice = notice }
  }

  // MARK: What comes of it

  /// What all sources come to.
  struct Outcome {
    /// Every target that is not declared, in the order of sources, lists and entries.
    var targets: [ConfiguredTarget] = []
    /// What has not been said before.
    var events: [DiscoveryEvent] = []
    /// Whether the targets may be others than at the time before.
    var hasChanged = false
  }

  /// Puts together what every source has told last. What was said before is said again only after it had ceased.
  mutating func combine() -> Outcome {
    var outcome = Outcome()
    var origins: [String: String] = [:]
    var problems: [DiscoveryEvent] = []
    for index in sources.indices {
      let source = sources[index]
      let name = source.source.name
      let before = outcome.targets.count
      if let notice = source.notice {
        problems.append(.ignored(source: name, origin: "", entry: nil, problem: notice))
      }
      for (origin, document) in source.documents.sorted(by: { $0.key < $1.key }) {
        if let failure = document.failure {
          problems.append(.failed(source: name, origin: origin, problem: failure, kept: document.targets.count))
        }
        for problem in document.problems {
          problems.append(.ignored(source: name, origin: origin, entry: problem.entry, problem: problem.message))
        }
        var twice: [String] = []
        for target in document.targets {
          let text = target.target.name
          if declared.contains(text) || origins[text] != nil {
            twice.append(text)
          } else if outcome.targets.count < Self.targetLimit {
            origins[text] = origin
            outcome.targets.append(target)
          }
        }
        if let problem = duplicates(twice, origins) {
          problems.append(.ignored(source: name, origin: origin, entry: nil, problem: problem))
        }
      }
      sources[index].watched = outcome.targets.count - before
      if source.hasChanged {
        outcome.hasChanged = true
        outcome.events.append(.discovered(source: name, targets: sources[index].watched))
      }
      sources[index].hasChanged = false
    }
    if outcome.targets.count == Self.targetLimit {
      problems.append(
        .ignored(
          source: "", origin: "", entry: nil,
          problem: "there are \(Self.targetLimit) discovered targets; more are left out"))
    }
    let now = Set(problems.prefix(Self.problemLimit))
    var said = standing
    outcome.events += problems.prefix(Self.problemLimit).filter { said.insert($0).inserted }
    standing = now
    return outcome
  }

  /// One warning for all targets of a list that are left out since their names are taken.
  private func duplicates(_ names: [String], _ origins: [String: String]) -> String? {
    guard let first = names.first else { return nil }
    let place = declared.contains(first) ? "under 'targets'" : "in \(origins[first] ?? "another source")"
    let more = names.count > 1 ? ", and \(names.count - 1) more targets are elsewhere too" : ""
    return "the target '\(first.prefix(200))' is left out, since it is already \(place)\(more)"
  }

  /// What is counted of each source, in their order.
  var samples: [DiscoverySample] {
    sources.map {
      DiscoverySample(
        source: $0.source.name, targets: $0.watched, failures: $0.failures, lastSuccess: $0.lastSuccess)
    }
  }
}
