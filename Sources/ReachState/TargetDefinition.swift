internal import ReachCore

/// What a target asks, as one line: two targets of one name with the same line are the same target over a restart.
///
/// How often and how patiently it is asked is no part of it, nor are labels.
enum TargetDefinition {
  static func text(of target: Target) -> String {
    var words = [target.kindName, what(target.kind)]
    if let port = target.port { words.append("port=\(port)") }
    let source = target.source
    if let interface = source.interface { words.append("device=\(interface)") }
    if let address = source.address { words.append("from=\(address)") }
    if let mark = source.mark { words.append("mark=\(mark)") }
    let policy = target.policy
    words.append("rule=\(policy.statusRule.rawValue)")
    words.append("tcp=\(policy.tcp.rawValue)")
    words.append("addresses=\(policy.addresses.rawValue)")
    if policy.search { words.append("search") }
    return words.joined(separator: " ")
  }

  private static func what(_ kind: Target.Kind) -> String {
    switch kind {
    case .host(let name): name.query
    case .address(let address): address.description
    case .pair(let local, let remote): "\(local)-\(remote)"
    case .defaultPath: "-"
    case .linkLocal(let interface), .interface(let interface): interface
    }
  }
}
