import ReachCore
import Testing

@testable import ReachScheduler

@Suite struct TCPOutcomeTests {
  private static let address = IPAddress(ipv4: 0xc000_0201)
  private static let busy = TCPFinding.Result.fault(FaultCode(errno: 24))

  private func outcome(_ results: [TCPFinding.Result], _ policy: TargetPolicy.Addresses = .any) -> ProbeOutcome {
    ProbeOutcome(
      tcp: results.map { TCPFinding($0) }, along: results.map { _ in Candidate(Self.address) }, policy: policy)
  }

  @Test("success is an open port and nothing else")
  func open() {
    #expect(outcome([.open]) == .success)
    #expect(outcome([.failed(.tcpRefused)]) == .failure(.tcpRefused))
    #expect(outcome([.failed(.tcpTimeout)]) == .failure(.tcpTimeout))
  }

  @Test("one open address is enough under any, and every address that was tried has to be open under all")
  func policies() {
    #expect(outcome([.failed(.tcpTimeout), .open]) == .success)
    #expect(outcome([.failed(.tcpTimeout), .open], .all) == .failure(.tcpTimeout))
    #expect(outcome([.open, .open], .all) == .success)
    #expect(outcome([.open, .notRun], .all) == .success)
    #expect(outcome([.open, Self.busy], .all).name == "error")
  }

  @Test(
    "a failure says more of the target than a fault of this host; faults alone are an error; nothing tried is no run")
  func precedence() {
    #expect(outcome([Self.busy, .failed(.tcpRefused)]) == .failure(.tcpRefused))
    #expect(outcome([Self.busy]) == .error(LocalFault(.probeError(FaultCode(errno: 24)))))
    #expect(outcome([.notRun, .notRun]) == .skipped)
    #expect(outcome([]) == .skipped)
  }

  @Test("a local refusal is the routing decision where there was one, and this host's fault where the route is fine")
  func localRefusal() {
    let finding = [TCPFinding(.refusedLocally(FaultCode(errno: 101)))]
    let refused = Candidate(Self.address, route: RouteFinding(.refused(.noRoute)))
    let fine = Candidate(Self.address, route: RouteFinding(.unicast))
    #expect(ProbeOutcome(tcp: finding, along: [refused], policy: .any) == .failure(.noRoute))
    #expect(ProbeOutcome(tcp: finding, along: [fine], policy: .any).name == "error")
  }
}
