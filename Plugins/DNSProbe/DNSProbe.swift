public import ReachCore
public import ReachProbe

/// Resolves the name of a `host` target with c-ares on the event loop, and tells each way it can fail apart.
///
/// One probe, with its sockets and the answers it keeps, serves every target whose options are the same. README.md
/// says what each outcome means and which choices were made.
public struct DNSProbe: ProbeBackend {
  private let resolver: Resolver

  /// What the plugin says of itself.
  public static let registration = Registration(
    name: "dns", layer: .dns, version: "0.1.0", summary: "resolves the target's name with c-ares",
    options: DNSOptions.declarations
  ) { (values, host) throws(OptionError) in
    DNSProbe(resolver: Resolver(options: try DNSOptions(values), loop: host.loop, sockets: host.keptSockets))
  }

  init(resolver: Resolver) { self.resolver = resolver }

  /// Asks for the name's addresses and returns what resolution said, at the deadline at the latest.
  ///
  /// A resolver that fails is evidence. So is a host that cannot ask: its fault is the finding's result. Throws
  /// `not_probed` for a target without a name. Isolation: from a task on the host's loop.
  public func probe(_ target: Target, in context: ProbeContext) async throws(LocalFault) -> Evidence {
    switch target.kind {
    case .host(let name):
      let finding = await resolver.resolve(
        name.query, policy: target.policy, source: target.source, deadline: context.deadline, log: context.log)
      return .dns(finding)
    case .address(let address):
      return .dns(DNSFinding(.resolved, addresses: [address]))
    case .pair, .defaultPath, .linkLocal, .interface:
      throw LocalFault(.notProbed, detail: "a target of kind '\(target.kindName)' has no name to resolve")
    }
  }
}
