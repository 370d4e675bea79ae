internal import ReachCore
internal import ReachProbe

/// Reads a target's `probes:`, or finds those it has by default.
struct ProbesReader {
  let problems: ProblemList
  /// The backends by name.
  let backends: [String: BackendDefaults]
  /// Whether the file lists them, rather than leaving it at the standard ones.
  let areListed: Bool

  /// The backends that look at a target which does not say.
  static func defaults(for kind: Target.Kind, port: UInt16?) -> [String] {
    switch kind {
    case .host: port == nil ? ["link", "route", "dns"] : ["link", "route", "dns", "tcp"]
    case .address, .pair: port == nil ? ["link", "route"] : ["link", "route", "tcp"]
    case .defaultPath, .linkLocal: ["link", "route"]
    case .interface: ["link"]
    }
  }

  /// The probes of a target that does not say.
  func standard(for target: Target) throws(ValueError) -> [ConfiguredProbe] {
    var probes: [ConfiguredProbe] = []
    for name in Self.defaults(for: target.kind, port: target.port) {
      guard let backend = backends[name] else {
        throw ValueError(
          "the target needs the backend '\(name)', which is not under 'backends'; add it, or give the target 'probes'")
      }
      probes.append(Self.probe(backend, within: target.policy.timeout))
    }
    return probes
  }

  /// The probes of a target.
  func read(_ node: YAMLNode?, at position: TextPosition, for target: Target) -> [ConfiguredProbe] {
    guard let node else {
      do throws(ValueError) {
        return try standard(for: target)
      } catch {
        problems.error(error.description, at: position)
        return []
      }
    }
    guard node.kind == .sequence else {
      problems.error(
        "'probes' takes a list, not \(node.whatItIs); write each behind a dash, such as '- tcp'", at: node.position)
      return []
    }
    var probes: [ConfiguredProbe] = []
    var lines: [String: Int] = [:]
    for element in node.elements {
      guard let (name, options) = entry(element) else { continue }
      if let line = lines[name] {
        problems.error("the probe '\(name)' is already on line \(line); keep one of them", at: element.position)
        continue
      }
      lines[name] = element.position.line
      guard let backend = backend(name, at: element.position) else { continue }
      probes.append(probe(backend, options, at: element.position, for: target))
    }
    check(node, lines, for: target)
    // Where an entry could not be read, what is missing may be what it was meant to be.
    if lines.count == node.count { checkLink(probes, lines, at: node.position, for: target) }
    return probes
  }

  // MARK: One probe

  private func entry(_ element: YAMLNode) -> (name: String, options: YAMLNode?)? {
    switch element.kind {
    case .scalar:
      return ValueReader(problems: problems).text(element, "probes").map { ($0, nil) }
    case .mapping where element.entries.count == 1:
      guard let (key, value) = element.entries.first, key.kind == .scalar else { return nil }
      return (key.text, value)
    case .mapping, .sequence:
      problems.error(
        "a probe is a name, or one name with its options; indent the options below it, or write "
          + "'- tcp: { timeout: 1s }'", at: element.position)
      return nil
    }
  }

  private func backend(_ name: String, at position: TextPosition) -> BackendDefaults? {
    if let backend = backends[name] { return backend }
    let standard = ConfigurationDocument.standardBackends.joined(separator: ", ")
    let what = areListed ? "not under 'backends'" : "none of \(standard)"
    let remedy = areListed ? "add it there" : "list all that you use under 'backends'"
    let hint = closest(to: name, among: backends.keys.sorted()).map { "did you mean '\($0)'?" } ?? remedy
    problems.error("the backend \(quoted(name)) is \(what); \(hint)", at: position)
    return nil
  }

  private static func probe(_ backend: BackendDefaults, within round: Duration) -> ConfiguredProbe {
    ConfiguredProbe(
      backend: backend.name, options: backend.shared, timeout: backend.timeout.flatMap { $0 < round ? $0 : nil })
  }

  private func probe(
    _ backend: BackendDefaults, _ node: YAMLNode?, at position: TextPosition, for target: Target
  ) -> ConfiguredProbe {
    var probe = Self.probe(backend, within: target.policy.timeout)
    let written =
      node.map { OptionReader(problems: problems).read($0, of: backend.name, declared: backend.declared) }
      ?? WrittenOptions()
    if !written.values.isEmpty { probe.options = OptionValues(backend.values.merging(written.values) { $1 }) }
    if let timeout = written.timeout {
      let round = target.policy.timeout
      if timeout > round {
        problems.warning(
          "timeout: \(timeout.text) is above the round's timeout of \(round.text), which ends the probe first",
          at: written.timeoutPosition)
      }
      probe.timeout = timeout < round ? timeout : nil
    }
    checkFit(probe, keys: backend.keys + written.keys, at: position, for: target)
    return probe
  }

  /// Whether the probe can do something with such a target.
  private func checkFit(_ probe: ConfiguredProbe, keys: [String], at position: TextPosition, for target: Target) {
    switch (probe.backend, target.kind) {
    case ("dns", .host): break
    case ("dns", _):
      problems.error("the target has no name for the probe 'dns' to ask for; remove it", at: position)
    case ("tcp", .defaultPath), ("tcp", .linkLocal), ("tcp", .interface):
      problems.error("the target has no address for the probe 'tcp' to connect to; remove it", at: position)
    case ("route", .interface):
      problems.error("the target has no address for the probe 'route' to look up; remove it", at: position)
    case ("tcp", _) where target.port == nil && probe.options["port"] == nil && !keys.contains("port"):
      problems.error(
        "the probe 'tcp' has no port; give the target a 'port', or the probe, such as '- tcp: { port: 443 }'",
        at: position)
    default: break
    }
  }

  /// Whether the link probe can know which interface to look at.
  private func checkLink(
    _ probes: [ConfiguredProbe], _ lines: [String: Int], at position: TextPosition, for target: Target
  ) {
    switch target.kind {
    case .interface, .linkLocal: return
    case .host, .address, .pair, .defaultPath: break
    }
    let areStandard = lines.keys.allSatisfy { ConfigurationDocument.standardBackends.contains($0) }
    guard areStandard, lines["route"] == nil, let link = probes.first(where: { $0.backend == "link" }),
      link.options.string("interface") == nil
    else { return }
    problems.error(
      "the probe 'link' cannot know the interface without the probe 'route'; add '- route', or name it: "
        + "'- link: { interface: eth0 }'", at: position)
  }

  /// Whether the probes together can come to a verdict.
  private func check(_ node: YAMLNode, _ lines: [String: Int], for target: Target) {
    if node.count == 0 {
      problems.error("'probes' is empty; list at least one, or remove the key for the usual ones", at: node.position)
    }
    // Another backend may resolve names too, so its presence is trusted.
    let areStandard = lines.keys.allSatisfy { ConfigurationDocument.standardBackends.contains($0) }
    if case .host = target.kind, !lines.isEmpty, areStandard, lines["dns"] == nil {
      problems.warning(
        "the target is a name, and without the probe 'dns' its addresses stay unknown; add '- dns'",
        at: node.position)
    }
  }
}
