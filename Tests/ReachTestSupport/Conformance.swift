internal import Glibc
public import ReachCore
public import ReachIO
public import ReachProbe

/// One situation that a backend is put into by the conformance suite.
public struct ConformanceCase: Sendable {
  /// What violations call it.
  public var name: String
  /// The options the backend is made with; what is left out is the registration's default.
  public var options: OptionValues
  /// What is probed.
  public var target: Target
  /// The ways to it.
  public var candidates: [Candidate]
  /// What a resolution said before.
  public var dns: DNSFinding?
  /// What must live as long as the case, such as a `TestPort`.
  public var holding: [any Sendable]

  /// A situation.
  public init(
    _ name: String, target: Target, candidates: [Candidate], options: OptionValues = OptionValues(),
    dns: DNSFinding? = nil, holding: [any Sendable] = []
  ) {
    self.name = name
    self.options = options
    self.target = target
    self.candidates = candidates
    self.dns = dns
    self.holding = holding
  }
}

/// Puts a backend through what every backend must stand, and returns what it does not, in words; empty when it conforms.
///
/// The suite runs in a network namespace of its own, which `stage` furnishes while it makes the cases. They should
/// include one that the backend answers at once, and, if it waits for the network, one that is never answered: such as
/// a port that is `full`. For each of them:
/// - the evidence is of the kind of the backend's layer, and as long as the candidates; no fault is thrown;
/// - it comes by the deadline, also when that has passed before the probe begins, and when several probes overlap;
/// - a cancelled probe ends soon, whether it has begun or not;
/// - no descriptor and no timer is left behind.
///
/// What the registration says of itself is checked as by `registrationViolations`. Allowances for a busy machine are
/// wide: two seconds for what should take none. Needs what `NamespaceSupport.isAvailable` tells of.
public func conformanceViolations(
  of registration: Registration,
  _ stage: @escaping @Sendable (EventLoop, NetworkStage) throws -> [ConformanceCase]
) async throws -> [String] {
  try await withNetworkNamespace(isolatesDescriptors: true) { loop, network in
    let cases = try stage(loop, network)
    let host = try ProbeHost.onThisLoop(loop)
    var violations = registrationViolations(registration)
    if cases.isEmpty { violations.append("no case was given") }
    for situation in cases {
      do throws(OptionError) {
        let backend = try registration.make(options(of: situation, for: registration), host)
        let trial = ConformanceTrial(situation, backend: backend, layer: registration.layer, host: host)
        violations += await trial.run().map { "\(situation.name): \($0)" }
      } catch {
        violations.append("\(situation.name): the options were refused: \(error.option): \(error.message)")
      }
    }
    return violations
  }
}

private func options(of situation: ConformanceCase, for registration: Registration) -> OptionValues {
  var values: [String: OptionValue] = [:]
  for option in registration.options { values[option.name] = situation.options[option.name] ?? option.defaultValue }
  return OptionValues(values)
}

/// One backend in one situation. Lives on the loop.
private struct ConformanceTrial: Sendable {
  private static let timeout = Duration.milliseconds(200)
  private static let grace = Duration.seconds(2)
  private static let repetitions = 20

  let situation: ConformanceCase
  let backend: any ProbeBackend
  let layer: Layer
  let host: ProbeHost

  init(_ situation: ConformanceCase, backend: any ProbeBackend, layer: Layer, host: ProbeHost) {
    self.situation = situation
    self.backend = backend
    self.layer = layer
    self.host = host
  }

  func run() async -> [String] {
    var violations: [String] = []
    await judge(within: Self.timeout, "alone", &violations)
    await judge(within: .milliseconds(-1), "after its deadline", &violations)
    await judgeOverlap(&violations)
    await judgeCancellation(afterTurns: false, &violations)
    await judgeCancellation(afterTurns: true, &violations)
    if violations.isEmpty { await judgeLeftovers(&violations) }
    return violations
  }

  private func probe(within timeout: Duration) async -> Result<Evidence, LocalFault> {
    let context = host.context(situation.candidates, within: timeout, dns: situation.dns)
    do { return .success(try await backend.probe(situation.target, in: context)) } catch { return .failure(error) }
  }

  private func judge(within timeout: Duration, _ circumstances: String, _ violations: inout [String]) async {
    let start = host.loop.now()
    let result = await probe(within: timeout)
    let elapsed = host.loop.now().since(start)
    if elapsed > max(timeout, .zero) + Self.grace {
      violations.append("\(circumstances), took \(elapsed) with a deadline \(timeout) away")
    }
    if !host.loop.isCurrent { violations.append("\(circumstances), left the event loop") }
    if let violation = violation(of: result) { violations.append("\(circumstances), \(violation)") }
  }

  private func violation(of result: Result<Evidence, LocalFault>) -> String? {
    switch result {
    case .failure(let fault):
      return "threw \(fault.reason) \(fault.detail)" + (fault.reason.layer == .local ? "" : ", which is no local fault")
    case .success(let evidence):
      let (kind, count): (Layer, Int?) =
        switch evidence {
        case .link(let findings): (.link, findings.count)
        case .route(let findings): (.route, findings.count)
        case .dns: (.dns, nil)
        case .tcp(let findings): (.tcp, findings.count)
        }
      if kind != layer { return "gave evidence of layer \(kind), not of its own, \(layer)" }
      if let count, count != situation.candidates.count {
        return "gave \(count) findings for \(situation.candidates.count) candidates"
      }
      return nil
    }
  }

  private func judgeOverlap(_ violations: inout [String]) async {
    let results = await withTaskGroup(of: Result<Evidence, LocalFault>.self) { group in
      for _ in 0..<8 {
        group.addTask(executorPreference: host.loop) { await probe(within: Self.timeout) }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    for violation in Set(results.compactMap { violation(of: $0) }).sorted() {
      violations.append("overlapping itself, \(violation)")
    }
  }

  private func judgeCancellation(afterTurns: Bool, _ violations: inout [String]) async {
    let elapsed = await cancelledProbe(afterTurns: afterTurns)
    if elapsed > Self.grace {
      violations.append("cancelled \(afterTurns ? "while under way" : "before it began"), took \(elapsed) to end")
    }
  }

  /// How long a probe with a distant deadline takes to end once it has been cancelled.
  private func cancelledProbe(afterTurns: Bool) async -> Duration {
    let task = host.loop.spawn { _ = await probe(within: .seconds(20)) }
    if afterTurns { await host.loop.sleep(until: host.loop.now().advanced(by: .milliseconds(5))) }
    let start = host.loop.now()
    task.cancel()
    await task.value
    return host.loop.now().since(start)
  }

  /// What a backend keeps for good (a socket to a resolver) is not a leak; what grows with the number of probes is.
  private func judgeLeftovers(_ violations: inout [String]) async {
    let descriptors = openDescriptors()
    let timers = host.loop.pendingTimers
    for _ in 0..<Self.repetitions {
      _ = await probe(within: .milliseconds(2))
      _ = await cancelledProbe(afterTurns: false)
    }
    let grown = openDescriptors() - descriptors
    if grown >= Self.repetitions / 2 {
      violations.append("left \(grown) descriptors open after \(Self.repetitions) runs")
    }
    let waiting = host.loop.pendingTimers - timers
    if waiting >= Self.repetitions / 2 {
      violations.append("left \(waiting) timers behind after \(Self.repetitions) runs")
    }
  }

  private func openDescriptors() -> Int { (0..<Int32(4096)).count { fcntl($0, F_GETFD) != -1 } }
}
