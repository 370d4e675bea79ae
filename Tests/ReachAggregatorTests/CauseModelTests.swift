internal import ReachAggregator
internal import ReachCore
internal import Testing

/// The ledger beside a model that remembers every judgement and works everything out anew.
@Suite struct CauseModelTests {
  @Test(
    "Membership is what a full account comes to, and what is announced holds, once, until it is cleared",
    .timeLimit(.minutes(4)))
  func model() {
    for seed in UInt64(1)...100 {
      var run = ModelRun(seed: seed)
      for step in 0..<150 where !run.hasFailed {
        run.step()
        run.check("seed \(seed), step \(step)")
      }
      if run.hasFailed { return }
    }
  }
}

private final class Failure {
  var hasHappened = false
}

private struct Judgement {
  var status: Status
  var evidence: CauseEvidence
  var began: Instant
  var at: Instant
  var number: Int
}

private struct ModelRun {
  private static let keys = 0..<7
  private static let gateways = [Cause.gateway("192.0.2.1"), Cause.gateway("192.0.2.2")]
  private static let servers = [
    [Cause.address("198.51.100.1"), Cause.address("198.51.100.2")], [Cause.address("198.51.100.2")],
  ]
  private static let links = ["eth0", "eth1"]

  private var random: SeededGenerator
  private var ledger = CauseLedger(run: 1)
  private var now = Instant(nanoseconds: 0)
  /// The newest judgement of each target that said something.
  private var newest: [Int: Judgement] = [:]
  /// The words of each target, by witness.
  private var words: [Int: [Cause: CauseEvidence.Word]] = [:]
  /// Every answer and every sight of an interface: of what, from when, as which judgement.
  private var good: [(cause: Cause, began: Instant, number: Int)] = []
  private var count = 0

  private var active: [String: CauseReport] = [:]
  private var over: Set<String> = []
  private var assigned: [Int: Cause] = [:]
  private let failure = Failure()
  var hasFailed: Bool { failure.hasHappened }

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  // MARK: A step

  mutating func step() {
    now = now.advanced(byNanoseconds: Int64(random.next() % 400_000_000))
    let key = Int(random.next() % UInt64(Self.keys.count))
    count += 1
    switch random.next() % 20 {
    case 0:
      ledger.remove(key)
      forget(key)
    case 1:
      ledger.note(key, .unknown, nil, began: now, at: now)
      forget(key)
    case 2: ledger.note(key, .notReachable, nil, began: now, at: now)
    default: judge(key)
    }
    let isSweep = random.once(in: 6)
    take(isSweep ? ledger.endSweep(at: now) : ledger.settle(at: now))
    if random.once(in: 5) { wait() }
  }

  private mutating func forget(_ key: Int) {
    newest[key] = nil
    words[key] = nil
  }

  private mutating func judge(_ key: Int) {
    let evidence = self.evidence()
    let status: Status = evidence.blame != nil && !random.once(in: 8) ? .notReachable : .reachableViaWiFi
    let began = now.advanced(byNanoseconds: -Int64(random.next() % 600_000_000))
    ledger.note(key, status, evidence, began: began, at: now)
    newest[key] = Judgement(status: status, evidence: evidence, began: began, at: now, number: count)
    var known = words[key] ?? [:]
    known = known.filter { $0.key.isServer || $0.key == evidence.gateway }
    if let gateway = evidence.gateway, evidence.gatewayWord != .nothing { known[gateway] = evidence.gatewayWord }
    if let server = evidence.servers.first {
      known = known.filter { !$0.key.isServer || $0.key == .resolver(server) }
      known[.resolver(server)] = evidence.serverWord
    }
    words[key] = known
    if evidence.gatewayWord == .works, let gateway = evidence.gateway { good.append((gateway, began, count)) }
    if evidence.serverWord == .works, let server = evidence.servers.first {
      good.append((.resolver(server), began, count))
    }
    if !evidence.usableInterface.isEmpty { good.append((.link(evidence.usableInterface), began, count)) }
  }

  private mutating func evidence() -> CauseEvidence {
    var evidence = CauseEvidence()
    let gateway = random.pick(Self.gateways)
    let servers = random.pick(Self.servers)
    switch random.next() % 8 {
    case 0, 1:
      evidence.blame = CauseEvidence.Blame(gateway, .tcpTimeout, isDirect: false)
      (evidence.gateway, evidence.gatewayWord) = (gateway, .silent)
    case 2:
      evidence.blame = CauseEvidence.Blame(gateway, .neighbourFailed, isDirect: true)
      (evidence.gateway, evidence.gatewayWord) = (gateway, .silent)
    case 3: (evidence.gateway, evidence.gatewayWord) = (gateway, random.once(in: 2) ? .works : .nothing)
    case 4, 5:
      evidence.blame = CauseEvidence.Blame(.resolver(servers[0]), .dnsTimeout, isDirect: random.once(in: 4))
      (evidence.servers, evidence.serverWord) = (servers, .silent)
    case 6: (evidence.servers, evidence.serverWord) = ([servers[0]], .works)
    default: evidence.blame = CauseEvidence.Blame(.link(random.pick(Self.links)), .carrierLost, isDirect: true)
    }
    if evidence.blame?.cause.isLink != true, random.once(in: 3) { evidence.usableInterface = random.pick(Self.links) }
    return evidence
  }

  /// Long enough for whatever holds to be announced.
  private mutating func wait() {
    now = now.advanced(by: .milliseconds(1_100))
    take(ledger.settle(at: now))
    for (cause, members) in membership() where members.count >= 2 && !isContradicted(cause, members) {
      expect(active.values.contains { $0.cause == cause }, "\(cause) holds and is not announced")
    }
    expect(ledger.nextSettle == nil, "something is still to come")
  }

  // MARK: What was told

  private mutating func take(_ changes: [CauseChange]) {
    for change in changes {
      switch change {
      case .announced(let report):
        expect(report.targets.count >= 2 && report.targets == report.targets.sorted(), "announced \(report)")
        expect(active[report.id] == nil && !over.contains(report.id), "announced twice: \(report)")
        expect(!active.values.contains { $0.cause == report.cause }, "already at fault: \(report)")
        active[report.id] = report
      case .cleared(let report, let lasted):
        let known = active.removeValue(forKey: report.id)
        expect(known != nil, "cleared without being announced: \(report)")
        expect(lasted >= .zero, "\(lasted)")
        over.insert(report.id)
      case .assigned(let key, let cause): assigned[key] = cause
      }
    }
  }

  private func expect(_ condition: Bool, _ message: @autoclosure () -> String, _ place: String = "") {
    if condition { return }
    failure.hasHappened = true
    Issue.record("\(place): \(message())")
  }

  // MARK: The full account

  /// Who fails for what, from everything that was ever said.
  private func membership() -> [Cause: Set<Int>] {
    var members: [Cause: Set<Int>] = [:]
    for (key, judgement) in newest where judgement.status == .notReachable {
      guard let cause = judgement.evidence.blame?.cause else { continue }
      let witnesses = witnesses(of: cause)
      let isAcquitted = good.contains { word in
        word.number > judgement.number && word.began > judgement.at && witnesses.contains(word.cause)
      }
      if !isAcquitted { members[cause, default: []].insert(key) }
    }
    return members
  }

  private func witnesses(of cause: Cause) -> [Cause] {
    guard case .resolver(let address) = cause else { return [cause] }
    return (Self.servers.first { $0[0] == address } ?? []).map(Cause.resolver)
  }

  private func isContradicted(_ cause: Cause, _ members: Set<Int>) -> Bool {
    if members.contains(where: { newest[$0]?.evidence.blame?.isDirect == true }) { return false }
    let witnesses = witnesses(of: cause)
    return words.values.contains { known in witnesses.contains { known[$0] == .works } }
  }

  mutating func check(_ place: String) {
    let members = membership()
    var ids: [Cause: Set<String>] = [:]
    for key in Self.keys {
      let cause = members.first { $0.value.contains(key) }?.key
      let id = ledger.causeID(of: key)
      expect((id != nil) == (cause != nil), "\(key) fails for \(id ?? "nothing"), not \(cause as Any)", place)
      if let cause, let id { ids[cause, default: []].insert(id) }
    }
    expect(ids.values.allSatisfy { $0.count == 1 }, "one fault has several identifiers: \(ids)", place)
    expect(Set(ids.values.flatMap { $0 }).count == ids.count, "several faults have one identifier: \(ids)", place)
    var told: [Int: Cause] = [:]
    for report in active.values {
      let present = members[report.cause] ?? []
      expect(!present.isEmpty, "\(report.cause) has nobody left", place)
      expect(!isContradicted(report.cause, present), "\(report.cause) is contradicted", place)
      for key in present { told[key] = report.cause }
    }
    expect(told == assigned, "\(assigned) is said, \(told) holds", place)
  }
}

extension Cause {
  fileprivate var isServer: Bool { if case .resolver = self { true } else { false } }
  fileprivate var isLink: Bool { if case .link = self { true } else { false } }
}
