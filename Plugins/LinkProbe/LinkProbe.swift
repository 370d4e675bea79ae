public import ReachCore
internal import ReachNetlink
public import ReachProbe

/// Looks at the interface a target is reached by, as the kernel last told of it: no packet, no system call.
///
/// For each candidate that is the egress interface of its route. For a target that is an interface, or the link-local
/// network of one, and wherever the option `interface` names one, it is that interface.
public struct LinkProbe: ProbeBackend {
  /// The option's name.
  static let interfaceOption = "interface"

  /// The interface to look at whatever the routes say.
  let interface: String?

  /// A probe of that interface, or, where there is none, of each candidate's egress interface.
  init(interface: String?) { self.interface = interface }

  /// Sees the state of the interface behind each candidate; nil where a candidate has no route, or leaves by none.
  ///
  /// An interface that was named and does not exist is seen as `missing`.
  public func probe(_ target: Target, in context: ProbeContext) async throws(LocalFault) -> Evidence {
    let links = context.host.links
    let findings: [LinkFinding?]
    if let name = interface ?? target.interfaceName {
      let finding = links.finding(named: name)
      findings = Array(repeating: finding, count: context.candidates.count)
    } else {
      findings = context.candidates.map { candidate in
        candidate.route.flatMap { Egress(of: $0).finding { links.finding(index: $0) } }
      }
    }
    if let log = context.log { for finding in findings { log.note(Self.describe(finding)) } }
    return .link(findings)
  }

  /// One line for people.
  static func describe(_ finding: LinkFinding?) -> String {
    guard let finding else { return "link: no egress interface to look at" }
    var line = "link: \(finding.interface)"
    if finding.state == .missing { return line + " does not exist" }
    line += " (index \(finding.index), \(finding.medium.rawValue)): \(finding.reason)"
    switch finding.underlay {
    case .usable: line += ", its tunnel runs over a usable link"
    case .cellular: line += ", its tunnel runs over a cellular link"
    case .down: line += ", the path under its tunnel is down"
    case nil: break
    }
    return line
  }
}

extension Target {
  /// The interface that the target itself names.
  fileprivate var interfaceName: String? {
    switch kind {
    case .interface(let name), .linkLocal(interface: let name): name
    case .host, .address, .pair, .defaultPath: nil
    }
  }
}
