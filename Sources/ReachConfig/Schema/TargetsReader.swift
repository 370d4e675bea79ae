internal import ReachCore

/// Reads `targets:`.
struct TargetsReader {
  private static let keys = ["name"] + KindReader.keys + ["port", "labels", "source", "probes"] + PolicyReader.keys
  /// What a metric's label may hold of a name, in octets; names that differ only behind it are the same there.
  private static let nameLimit = 2048

  let problems: ProblemList
  let defaults: TargetPolicy
  let labelLimit: Int
  let probes: ProbesReader
  /// Whether targets come from elsewhere too.
  let hasSources: Bool

  private var lines: [String: Int] = [:]
  // Of equal arrays one is kept, which every target that has it shares.
  private var probeLists: Set<[ConfiguredProbe]> = []
  private var labelLists: Set<[Label]> = []
  private var settings: Set<TargetSettings> = []
  private var standardLists: [StandardKey: [ConfiguredProbe]] = [:]

  private struct StandardKey: Hashable {
    let backends: [String]
    let timeout: Duration
  }

  init(problems: ProblemList, defaults: TargetPolicy, labelLimit: Int, probes: ProbesReader, hasSources: Bool) {
    self.problems = problems
    self.defaults = defaults
    self.labelLimit = labelLimit
    self.probes = probes
    self.hasSources = hasSources
  }

  /// The targets; with none, a warning.
  mutating func read(_ node: YAMLNode?, in file: TextPosition) -> [ConfiguredTarget] {
    guard let node, !node.isEmpty, node.kind != .sequence || node.count > 0 else {
      if hasSources { return [] }
      problems.warning(
        "there are no targets, so nothing is probed; list some under 'targets'", at: node?.position ?? file)
      return []
    }
    guard node.kind == .sequence else {
      problems.error(
        "'targets' takes a list, not \(node.whatItIs); write each behind a dash, such as '- example.com:443'",
        at: node.position)
      return []
    }
    var targets: [ConfiguredTarget] = []
    targets.reserveCapacity(node.count)
    for element in node.elements {
      let target =
        switch element.kind {
        case .scalar: short(element)
        case .mapping: long(element)
        case .sequence: refuseList(element)
        }
      if let target { targets.append(target) }
    }
    return targets
  }

  private func refuseList(_ element: YAMLNode) -> ConfiguredTarget? {
    problems.error(
      "a target is a text or a map, not a list; put an IPv6 address in brackets in quotes, such as \"[2001:db8::1]:443\"",
      at: element.position)
    return nil
  }

  private mutating func short(_ element: YAMLNode) -> ConfiguredTarget? {
    if element.isBinary { return ValueReader(problems: problems).refuseBinary(element) }
    let text = element.text
    do throws(ValueError) {
      if element.isEmpty { throw ValueError("a target is empty; write a host or an address, such as example.com:443") }
      if element.isPlain, CoreScalar(text) == .ambiguous, (try? IPAddress(parsing: text)) == nil {
        throw ValueError("\(quoted(text)) is an ambiguous number; write a host or an address, such as example.com:443")
      }
      let target = try Target(shortForm: text, policy: defaults.capped)
      try checkName(target, at: element.position)
      let list = try standardProbes(for: target)
      return keep(target, list)
    } catch {
      problems.error(error.description, at: element.position)
      return nil
    }
  }

  private mutating func long(_ element: YAMLNode) -> ConfiguredTarget? {
    if let text = Self.splitShortForm(element) {
      problems.error("a space splits this target; write it as '\(text)'", at: element.position)
      return nil
    }
    let reader = ValueReader(problems: problems)
    let fields = Fields(element, in: "a target", known: Self.keys, problems: problems)
    let read = KindReader(problems: problems).read(fields)
    var inherited = defaults
    if case .linkLocal = read?.kind { inherited.statusRule = .localwifi }
    var policy = PolicyReader(problems: problems).read(fields, over: inherited).capped
    if read?.isAbsolute == true { policy.search = false }
    let port = fields["port"].flatMap {
      reader.number($0, "port") { text throws(ValueError) in try PortText.parse(text) }
    }
    let labels = fields["labels"].map { LabelsReader(problems: problems, limit: labelLimit).read($0) } ?? []
    let source = fields["source"].map { SourceReader(problems: problems).read($0, for: read?.kind) }
    let name = fields["name"].flatMap { reader.text($0, "name") }
    guard let kind = read?.kind else { return nil }
    checkPort(fields, kind)
    var target = Target(
      name: name ?? kind.name(port: port), kind: kind, port: port, source: source ?? SourceBinding(), policy: policy,
      labels: labelLists.insert(labels).memberAfterInsert)
    do throws(ValueError) {
      try checkName(target, at: fields["name"]?.position ?? element.position)
    } catch {
      problems.error(error.description, at: fields["name"]?.position ?? element.position)
    }
    // A port that is there and wrong has been noted; the probe for it should not be missed as well.
    if fields["port"] != nil, port == nil { target.port = 1 }
    return keep(target, probes.read(fields["probes"], at: element.position, for: target))
  }

  /// The probes of a target that does not say, which most targets share.
  private mutating func standardProbes(for target: Target) throws(ValueError) -> [ConfiguredProbe] {
    let key = StandardKey(
      backends: ProbesReader.defaults(for: target.kind, port: target.port), timeout: target.policy.timeout)
    if let list = standardLists[key] { return list }
    let list = probeLists.insert(try probes.standard(for: target)).memberAfterInsert
    standardLists[key] = list
    return list
  }

  private mutating func keep(_ target: Target, _ list: [ConfiguredProbe]) -> ConfiguredTarget {
    var target = target
    target.settings = settings.insert(target.settings).memberAfterInsert
    return ConfiguredTarget(target: target, probes: probeLists.insert(list).memberAfterInsert)
  }

  private func checkPort(_ fields: Fields, _ kind: Target.Kind) {
    guard fields["port"] != nil else { return }
    switch kind {
    case .host, .address, .pair: return
    case .defaultPath, .linkLocal, .interface:
      problems.error(
        "'port' has no use here, since nothing is connected to; remove it", at: fields.position(of: "port"))
    }
  }

  /// `example.com: 443`, which YAML reads as a map.
  private static func splitShortForm(_ element: YAMLNode) -> String? {
    guard element.count == 2, let (key, value) = element.entries.first, key.kind == .scalar, value.kind == .scalar,
      !keys.contains(key.text), let port = UInt16(value.text), port > 0
    else { return nil }
    let text = "\(key.text):\(port)"
    return (try? TargetText(text)) == nil ? nil : text
  }

  private mutating func checkName(_ target: Target, at position: TextPosition) throws(ValueError) {
    if target.name.isEmpty { throw ValueError("name: it is empty; write one, or remove the key") }
    let cut = Self.cut(target.name)
    if let line = lines[cut] {
      throw ValueError(
        "the target \(quoted(target.name)) is already on line \(line); give one of them another 'name'")
    }
    lines[cut] = position.line
  }

  /// The name as a metric's label has it: cut between two characters.
  private static func cut(_ name: String) -> String {
    guard name.utf8.count > nameLimit else { return name }
    let octets = Array(name.utf8.prefix(nameLimit + 1))
    var end = nameLimit
    while end > 0, octets[end] & 0xc0 == 0x80 { end -= 1 }
    return String(decoding: octets[..<end], as: UTF8.self)
  }
}

extension Target {
  /// The target of this short form, named as it is written.
  init(shortForm text: String, policy: TargetPolicy) throws(ValueError) {
    let parsed = try TargetText(text)
    var policy = policy
    if parsed.isAbsolute { policy.search = false }
    self.init(name: text, kind: parsed.kind, port: parsed.port, policy: policy)
  }
}
