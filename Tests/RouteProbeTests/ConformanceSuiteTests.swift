import Glibc
import ReachCore
import ReachIO
import ReachProbe
import ReachTestSupport
import Testing

/// That the conformance suite itself finds what it is there to find.
@Suite(.enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"))
struct ConformanceSuiteTests {
  @Test("a backend without a fault conforms", .timeLimit(.minutes(4)))
  func good() async throws {
    #expect(try await violations(of: .none) == [])
  }

  @Test("each fault of a backend is found", .timeLimit(.minutes(4)), arguments: Flaw.allCases.filter { $0 != .none })
  func bad(_ flaw: Flaw) async throws {
    let found = try await violations(of: flaw)
    #expect(found.contains { $0.contains(flaw.rawValue) }, "\(found)")
  }

  @Test("each fault of a registration is found")
  func registrations() {
    let registration = Registration(
      name: "Bad Name", layer: .config, version: "", summary: "",
      options: [
        ProbeOption("timeout", .duration, summary: "no"),
        ProbeOption("n", .integer(1...2), default: .integer(3), summary: ""),
        ProbeOption("n", .choice(["a"]), default: .string("b"), summary: "s"),
      ]
    ) { (_, _) throws(OptionError) in FlawedProbe(flaw: .none) }
    #expect(registrationViolations(registration).count == 9)
  }

  private func violations(of flaw: Flaw) async throws -> [String] {
    let registration = Registration(
      name: "flawed", layer: .route, version: "1", summary: "A backend with one fault.", options: []
    ) { (_, _) throws(OptionError) in FlawedProbe(flaw: flaw) }
    return try await conformanceViolations(of: registration) { _, _ in
      let target = Target(name: "t", kind: .address(.loopback))
      return [ConformanceCase("case", target: target, candidates: [Candidate(.loopback), Candidate(.loopback6)])]
    }
  }
}

enum Flaw: String, CaseIterable {
  case none
  case kind = "evidence of layer"
  case count = "1 findings for 2 candidates"
  case fault = "threw"
  case lateness = "took"
  case deafness = "cancelled while under way"
  case leak = "descriptors open"
}

private struct FlawedProbe: ProbeBackend {
  let flaw: Flaw

  func probe(_ target: Target, in context: ProbeContext) async throws(LocalFault) -> Evidence {
    let loop = context.host.loop
    let findings = context.candidates.map { _ in RouteFinding(.local) }
    switch flaw {
    case .none: await loop.sleep(until: context.deadline)
    case .kind: return .tcp([])
    case .count: return .route([RouteFinding(.local)])
    case .fault: throw LocalFault(.backendMissing)
    case .lateness: await loop.sleep(until: context.deadline.advanced(by: .milliseconds(2300)))
    case .deafness:
      let nap = loop.spawn { await loop.sleep(until: min(context.deadline, loop.now().advanced(by: .seconds(4)))) }
      await nap.value
    case .leak: _ = dup(0)
    }
    return .route(findings)
  }
}
