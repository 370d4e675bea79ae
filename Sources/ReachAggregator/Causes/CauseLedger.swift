public import ReachCore

/// Which targets fail for one and the same cause.
///
/// A value without clock or I/O: it is told of every judgement by `note`, and says what came of that when it is asked to
/// `settle`, which the caller does after each judgement, and at `nextSettle`; after a sweep over many targets it calls
/// `endSweep` instead. Targets go by keys that the caller chooses, small and not negative.
///
/// It holds these rules.
///
/// - A **direct** cause was seen to be broken itself: an interface, a gateway that answers no ARP, a resolver whose port
///   is closed. It holds as soon as two targets fail for it.
/// - A **suspected** cause would explain why no answer came. It holds once two targets fail for it and no other target's
///   newest word is that it works: one that got an answer by it, and has not been probed since, is waited for. Of a
///   target that has become Unknown nothing is known, so it is not waited for.
/// - An **answer** by a gateway or a server, and the sight of a usable interface, acquits it of all failures that were
///   seen before that round began.
/// - The **nearer** cause is named: a silent name server is none while the gateway before it may be one.
/// - **Routing** is a cause only for targets that lost their route together, within `gathering` of one another.
/// - A fault has its identifier from its first failure on, before a second one shows that it is shared.
/// - It is **announced** once, when it holds: with the end of the sweep that found a direct one, otherwise when nobody has
///   joined it for `gathering`, or after five times that, so that the announcement names more than the first two. It is
///   **cleared** once, when no target fails for it any more, or an answer has acquitted it.
///
/// A judgement costs a few comparisons, whatever the number of targets; an answer costs one step more for each target
/// that still fails for what it acquits.
public struct CauseLedger: Sendable {
  /// What is known of one target.
  struct Entry {
    var gateway = Testimony()
    var server = Testimony()
    /// The fault it fails for.
    var fault = Place.none
    /// Whether it saw that fault's cause broken.
    var isDirect = false
    /// When it was last seen to fail.
    var failedAt = Instant(nanoseconds: .min)
  }

  var entries: [Entry] = []
  var witnesses = WitnessTable()
  var faults: [Fault] = []
  var freeFaults: [Int] = []
  /// The fault that the next failure for this cause joins.
  var open: [Cause: Int] = [:]
  /// How many of these are links: while there are none, nobody asks which interfaces are usable.
  var openLinks = 0
  /// Faults that may have come to hold, or ceased to.
  var touched: [Int] = []
  /// Faults that hold and wait to be announced.
  var waiting: [Int] = []
  var changes: [CauseChange] = []
  var lastNumber: UInt64 = 0
  let run: String
  let gathering: Duration

  /// An empty ledger.
  ///
  /// - Parameters:
  ///   - run: a number that no other run of the agent has had, such as a random one: identifiers are made of it.
  ///   - gathering: how long a fault that holds waits for one more target before it is announced.
  public init(run: UInt64, gathering: Duration = .seconds(1)) {
    self.run = String(run & 0xff_ffff_ffff, radix: 36)
    self.gathering = gathering
  }

  /// Takes in what a target has been judged.
  ///
  /// - Parameters:
  ///   - status: its published status.
  ///   - evidence: what the judgement says; nil when it says nothing.
  ///   - began: when the round began in which the evidence was gained, or the moment of the look at the path.
  ///   - now: when it ended.
  public mutating func note(
    _ key: Int, _ status: Status, _ evidence: CauseEvidence?, began: Instant, at now: Instant
  ) {
    precondition(key >= 0, "a key is a place in a table")
    guard let evidence else {
      if status == .unknown { forget(key) }
      return
    }
    while entries.count <= key { entries.append(Entry()) }
    if openLinks > 0, !evidence.usableInterface.isEmpty, let fault = open[.link(evidence.usableInterface)] {
      acquit(fault, before: began)
    }
    hear(evidence, of: key, began)
    let blame = status == .notReachable ? evidence.blame : nil
    if let blame, !evidence.isPathOnly || blame.cause.isOfPath {
      put(key, blame, evidence, at: now)
    } else if !evidence.isPathOnly || status != .notReachable || !isBlameKept(of: key, evidence) {
      leave(key)
    }
  }

  /// Forgets a target that is no longer watched; its key may be given to another.
  public mutating func remove(_ key: Int) {
    forget(key)
    for index in faults.indices where faults[index].isAnnounced { faults[index].explained.remove(key) }
  }

  /// The identifier of the fault that a target fails for, shared or not; nil when it fails for none beyond itself.
  public mutating func causeID(of key: Int) -> String? {
    guard entries.indices.contains(key), let fault = entries[key].fault.index else { return nil }
    return identifier(of: fault)
  }

  private mutating func forget(_ key: Int) {
    guard entries.indices.contains(key) else { return }
    leave(key)
    entries[key].gateway = testify(entries[key].gateway, of: nil, .nothing, Instant.distantFuture)
    entries[key].server = testify(entries[key].server, of: nil, .nothing, Instant.distantFuture)
  }

  // MARK: Words

  /// What was learned by another gateway than the one that is now in use says nothing of this one.
  private mutating func hear(_ evidence: CauseEvidence, of key: Int, _ began: Instant) {
    let word = evidence.isPathOnly ? .nothing : evidence.gatewayWord
    entries[key].gateway = testify(entries[key].gateway, of: evidence.gateway, word, began)
    guard !evidence.isPathOnly, let server = evidence.servers.first else { return }
    entries[key].server = testify(entries[key].server, of: .resolver(server), evidence.serverWord, began)
  }

  /// A target's testimony, brought up to date. `nothing` leaves the word on the same witness as it was.
  private mutating func testify(
    _ before: Testimony, of cause: Cause?, _ word: CauseEvidence.Word, _ began: Instant
  ) -> Testimony {
    var testimony = before
    if let index = before.witness.index, witnesses[index].cause != cause {
      count(before.word, of: index, -1)
      witnesses.release(index)
      testimony = Testimony()
    }
    guard let cause else { return testimony }
    let index = testimony.witness.index ?? witnesses.hold(cause)
    testimony.witness = Place(index)
    guard word != .nothing else { return testimony }
    if word != testimony.word {
      count(testimony.word, of: index, -1)
      count(word, of: index, 1)
      testimony.word = word
    }
    if word == .works {
      witnesses[index].workedAt = max(witnesses[index].workedAt, began)
      for fault in witnesses[index].faults { acquit(fault, before: began) }
      for fault in witnesses[index].behind { touch(fault) }
    }
    return testimony
  }

  private mutating func count(_ word: CauseEvidence.Word, of index: Int, _ step: Int) {
    guard word != .nothing else { return }
    witnesses[index].count(word, step)
    for fault in witnesses[index].faults { touch(fault) }
    for fault in witnesses[index].behind { touch(fault) }
  }

  /// Whether a failure from before still is one for the same cause after another look at the path.
  private func isBlameKept(of key: Int, _ evidence: CauseEvidence) -> Bool {
    guard let fault = entries[key].fault.index else { return false }
    switch faults[fault].cause {
    case .gateway: return faults[fault].cause == evidence.gateway
    case .resolver: return true
    case .link, .route: return false
    }
  }
}
