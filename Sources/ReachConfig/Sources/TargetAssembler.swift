internal import ReachCore
internal import ReachProbe

/// A list of targets as it was read, and what an assembler made of it.
public struct AssembledList: Sendable {
  /// What was read.
  public let list: TargetGroupList
  /// The targets.
  public let targets: [ConfiguredTarget]
  /// What is wrong with those that are left out or cut.
  public let problems: [EntryProblem]
}

/// Makes targets of what a source of targets tells.
public struct TargetAssembler: Sendable {
  private let source: TargetSource
  private let labelLimit: Int
  private let backends: [String: BackendDefaults]

  /// For one source of a configuration.
  public init(_ configuration: Configuration, for source: TargetSource) {
    self.source = source
    labelLimit = configuration.metrics.maxLabels
    backends = configuration.backendDefaults
  }

  /// A list with the targets that come of it.
  public func assembled(_ list: TargetGroupList) -> AssembledList {
    let made = targets(of: list)
    return AssembledList(list: list, targets: made.targets, problems: made.problems)
  }

  /// The targets of a list, each with what it has in common with others shared, and what is wrong with those that are
  /// left out or cut. A name that is there twice is kept once.
  public func targets(of list: TargetGroupList) -> (targets: [ConfiguredTarget], problems: [EntryProblem]) {
    var making = Making(assembler: self, problems: list.problems)
    for group in list.groups { making.add(group) }
    return (making.targets, making.problems)
  }

  /// One list in the making.
  private struct Making {
    let assembler: TargetAssembler
    var targets: [ConfiguredTarget] = []
    var problems: [EntryProblem]
    private var entries: [String: Int] = [:]
    private var labelLists: Set<[Label]> = []
    private var settings: [Bool: TargetSettings] = [:]
    private var probeLists: [String: [ConfiguredProbe]] = [:]
    private let probes: ProbesReader

    init(assembler: TargetAssembler, problems: [EntryProblem]) {
      self.assembler = assembler
      self.problems = problems
      probes = ProbesReader(problems: ProblemList(file: ""), backends: assembler.backends, areListed: true)
    }

    mutating func add(_ group: TargetGroupList.Group) {
      guard !group.targets.isEmpty else { return }
      let labels = labels(of: group)
      for text in group.targets {
        do throws(ValueError) {
          var target = try Target(shortForm: text, policy: assembler.source.policy)
          if let first = entries[text] {
            throw ValueError("the target \(quoted(text)) is already in entry \(first); remove one of them")
          }
          let list = try probes(for: target)
          target.labels = labels
          target.settings = shared(target)
          entries[text] = group.entry
          targets.append(ConfiguredTarget(target: target, probes: list))
        } catch {
          note(group.entry, error.description)
        }
      }
    }

    /// Targets differ in their settings only by whether a name's search list is used.
    private mutating func shared(_ target: Target) -> TargetSettings {
      if let settings = settings[target.policy.search] { return settings }
      settings[target.policy.search] = target.settings
      return target.settings
    }

    private mutating func probes(for target: Target) throws(ValueError) -> [ConfiguredProbe] {
      let key = "\(target.kindName) \(target.port != nil)"
      if let list = probeLists[key] { return list }
      let list: [ConfiguredProbe]
      if let own = assembler.source.probes {
        list = own.filter { $0.fits(target) }
        // Another backend may resolve names too, so its presence is trusted.
        let areStandard = list.allSatisfy { ConfigurationDocument.standardBackends.contains($0.backend) }
        if case .host = target.kind, areStandard, !list.contains(where: { $0.backend == "dns" }) {
          throw ValueError("\(quoted(target.name)) is a name, and the source's probes have no 'dns'; add it")
        }
        guard !list.isEmpty else {
          throw ValueError("none of the source's probes can look at \(quoted(target.name)); add 'link' and 'route'")
        }
      } else {
        list = try probes.standard(for: target)
      }
      probeLists[key] = list
      return list
    }

    /// The group's labels with those of the source, as far as a target may have them, in the order of their names.
    private mutating func labels(of group: TargetGroupList.Group) -> [Label] {
      var byName: [String: String] = [:]
      for label in assembler.source.labels { byName[label.name] = label.value }
      for label in group.labels {
        if let problem = LabelsReader.problem(label.name) {
          note(group.entry, "the label is dropped: \(problem)")
        } else {
          byName[label.name] = label.value
        }
      }
      var labels = byName.map { Label(name: $0.key, value: $0.value) }
      labels.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
      let limit = assembler.labelLimit
      if labels.count > limit {
        let dropped = labels[limit...].prefix(5).map { quoted($0.name) }.joined(separator: ", ")
        note(
          group.entry,
          "there are \(labels.count) labels and \(limit) are allowed, so \(dropped)\(labels.count - limit > 5 ? "…" : "") "
            + "\(labels.count - limit == 1 ? "is" : "are") dropped; raise 'max_labels' under 'metrics'")
        labels.removeSubrange(limit...)
      }
      return labelLists.insert(labels).memberAfterInsert
    }

    private mutating func note(_ entry: Int, _ message: String) {
      let limit = TargetGroupList.problemLimit
      if problems.count < limit {
        problems.append(EntryProblem(entry, message))
      } else if problems.count == limit {
        problems.append(EntryProblem(nil, "there are more than \(limit) problems; the rest is left out"))
      }
    }
  }
}

extension ConfiguredProbe {
  /// Whether it can do something with such a target.
  fileprivate func fits(_ target: Target) -> Bool {
    switch (backend, target.kind) {
    case ("dns", .host): true
    case ("dns", _), ("tcp", .defaultPath): false
    case ("tcp", _): target.port != nil || options["port"] != nil
    default: true
    }
  }
}

extension Configuration {
  /// The backends by name, as the probes of a target are made of them.
  var backendDefaults: [String: BackendDefaults] {
    Dictionary(
      backends.map { backend in
        var defaults = BackendDefaults(name: backend.name, timeout: backend.timeout)
        defaults.shared = backend.options
        return (backend.name, defaults)
      }
    ) { first, _ in first }
  }
}
