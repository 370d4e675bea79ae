import ReachCore
import ReachIO
import ReachProbe
import ReachTestSupport
import RouteProbe
import Testing

/// Asks the route probe in a staged namespace.
struct Asking {
  let host: ProbeHost

  /// The findings of one round for a target of that kind with those candidates.
  func callAsFunction(
    _ kind: Target.Kind, _ candidates: [Candidate], from source: SourceBinding = SourceBinding()
  ) async throws -> [RouteFinding] {
    let target = Target(name: "target", kind: kind, source: source)
    guard case .route(let findings) = try await RouteProbe().probe(target, in: host.context(candidates)) else {
      throw NoRouteEvidence()
    }
    return findings
  }

  /// The finding for an address target.
  func callAsFunction(_ address: IPAddress, from source: SourceBinding = SourceBinding()) async throws -> RouteFinding {
    guard let finding = try await self(.address(address), [Candidate(address)], from: source).first else {
      throw NoRouteEvidence()
    }
    return finding
  }

  /// The decision for an address target.
  func decision(
    _ address: IPAddress, from source: SourceBinding = SourceBinding()
  ) async throws -> RouteFinding.Decision {
    try await self(address, from: source).decision
  }
}

struct NoRouteEvidence: Error {}

/// Runs `body` in a namespace whose `veth0` is joined to a gateway's, and with that gateway as the default.
func withGateway<Value: Sendable>(
  _ body: @escaping @Sendable (NetworkStage, Asking, NetworkNamespace) async throws -> Value
) async throws -> Value {
  try await withNetworkNamespace { loop, stage in
    let gateway = try stage.stageGateway()
    return try await body(stage, Asking(host: try ProbeHost.onThisLoop(loop)), gateway)
  }
}

/// The same with a second gateway, 198.51.100.254 and 2001:db8:1::fe, on `veth2`, where the host is 198.51.100.1 and
/// 2001:db8:1::1. Nothing is routed over it yet.
func withTwoUplinks<Value: Sendable>(
  _ body: @escaping @Sendable (NetworkStage, Asking, NetworkNamespace) async throws -> Value
) async throws -> Value {
  try await withNetworkNamespace { loop, stage in
    _ = try stage.stageGateway()
    let second = try stage.addNamespace("second gateway")
    try stage.join(stage.host, "veth2", to: second, "veth3")
    try second.ip("address add 198.51.100.254/24 dev veth3\naddress add 2001:db8:1::fe/64 dev veth3 nodad")
    try stage.ip("address add 198.51.100.1/24 dev veth2\naddress add 2001:db8:1::1/64 dev veth2 nodad")
    return try await body(stage, Asking(host: try ProbeHost.onThisLoop(loop)), second)
  }
}

extension SourceBinding {
  static func interface(_ name: String) -> SourceBinding { SourceBinding(interface: name) }
  static func address(_ address: IPAddress) -> SourceBinding { SourceBinding(address: address) }
  static func mark(_ mark: UInt32) -> SourceBinding { SourceBinding(mark: mark) }
}

/// Beyond both gateways.
let remote: IPAddress = "203.0.113.9"
let remote6: IPAddress = "2001:db8:ffff::9"

/// The suites' condition.
let canStage = NamespaceSupport.isAvailable
let whyNot: Comment = "\(NamespaceSupport.requirement)"
