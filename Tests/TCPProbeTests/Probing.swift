import ReachCore
import ReachIO
import ReachProbe
import ReachTestSupport

@testable import TCPProbe

extension ProbeHost {
  /// What the tcp probe finds of these candidates, for a target with that port.
  func tcpFindings(
    _ candidates: [Candidate], port: UInt16?, within timeout: Duration = .seconds(20), probe: TCPProbe = TCPProbe(),
    source: SourceBinding = SourceBinding(), kind: Target.Kind = .address("192.0.2.1")
  ) async throws -> [TCPFinding] {
    let target = Target(name: "target", kind: kind, port: port, source: source)
    guard case .tcp(let findings) = try await probe.probe(target, in: context(candidates, within: timeout)) else {
      return []
    }
    return findings
  }

  /// What came of connecting to one address.
  func tcpResult(
    _ address: IPAddress, _ port: UInt16, route: RouteFinding? = nil, within timeout: Duration = .seconds(20),
    source: SourceBinding = SourceBinding()
  ) async throws -> TCPFinding.Result? {
    try await tcpFindings([Candidate(address, route: route)], port: port, within: timeout, source: source).first?.result
  }
}

extension RouteFinding {
  /// A way out that needs no more description.
  static let leaving = RouteFinding(.unicast, interfaceIndex: 2, interface: "veth0")
  /// This host's own address.
  static let own = RouteFinding(.local, interfaceIndex: 1, interface: "lo")
}
