internal import ReachConfig
internal import ReachCore

/// What another list of targets means for those that are watched.
struct RosterPlan {
  /// What becomes of one target of the new list.
  enum Step {
    /// It is watched already, just so, and not touched.
    case keep(WatchedTarget)
    /// A target of its name is watched in another way.
    case change(WatchedTarget, ConfiguredTarget)
    /// It is new.
    case add(ConfiguredTarget)
  }

  /// A step for each target of the list, in its order.
  let steps: [Step]
  /// The targets that are in the list no more.
  let removed: [WatchedTarget]

  /// The plan for a new list of the targets of that origin. A discovered target does not take a declared one's name.
  /// `isCurrent` says whether a target is watched just as the list has it.
  init(
    _ roster: Roster, _ origin: Roster.Origin, _ targets: [ConfiguredTarget],
    isCurrent: (WatchedTarget, ConfiguredTarget) -> Bool
  ) {
    let declared = origin == .discovered ? Set(roster.declared.map(\.target.name)) : []
    var steps: [Step] = []
    var listed: Set<String> = []
    steps.reserveCapacity(targets.count)
    for target in targets where !declared.contains(target.target.name) {
      guard listed.insert(target.target.name).inserted else { continue }
      if let watched = roster[target.target.name] {
        steps.append(isCurrent(watched, target) ? .keep(watched) : .change(watched, target))
      } else {
        steps.append(.add(target))
      }
    }
    self.steps = steps
    removed = (origin == .declared ? roster.declared : roster.discovered).filter { !listed.contains($0.target.name) }
  }

  /// The targets that nothing is known of yet.
  var added: [ConfiguredTarget] { steps.compactMap { if case .add(let target) = $0 { target } else { nil } } }

  /// How many targets are new, are watched in another way, and are not watched any more.
  var counts: RosterCounts {
    var counts = RosterCounts(total: steps.count, removed: removed.count)
    for step in steps {
      switch step {
      case .keep: break
      case .change: counts.changed += 1
      case .add: counts.added += 1
      }
    }
    return counts
  }
}

/// What a change of the list came to.
struct RosterCounts: Hashable, Sendable, CustomStringConvertible {
  /// Targets in the new list.
  var total = 0
  /// Of these, those that are new.
  var added = 0
  /// Of these, those that are watched in another way than before.
  var changed = 0
  /// Targets that are in the list no more.
  var removed = 0

  /// For people.
  var description: String {
    let words = [(added, "added"), (changed, "changed"), (removed, "removed")]
      .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    let number = "\(total) target\(total == 1 ? "" : "s")"
    return words.isEmpty ? number : number + " (" + words.joined(separator: ", ") + ")"
  }
}
