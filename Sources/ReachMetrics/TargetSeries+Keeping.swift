public import ReachCore

/// A counter of one target as a name and a value, to be kept over a restart.
public typealias NamedCount = (name: String, value: UInt64)

/// What of a target's counters survives a restart. Histograms do not: they begin again, which Prometheus understands.
extension TargetSeries {
  /// How often the status turned into this one.
  public func transitions(into status: Status) -> UInt64 { UInt64(transitions[status]) }

  /// Every counter but those of transitions, as they stand at `now`.
  public func counters(at now: Instant) -> [NamedCount] {
    var counters: [NamedCount] = Status.allCases.map { status in
      ("\(Name.status)\(status.rawValue)", UInt64(max(0, nanoseconds(in: status, at: now))))
    }
    for probe in probes {
      for (outcome, count) in zip(Name.outcomes, probe.counts) {
        counters.append(("\(Name.runs)\(outcome).\(probe.name)", UInt64(count)))
      }
    }
    for failure in failures where Int(failure.probe) < probes.count {
      let name = "\(Name.failures)\(failure.reason.description).\(probes[Int(failure.probe)].name)"
      counters.append((name, UInt64(failure.count)))
    }
    counters.append((Name.path, UInt64(pathChanges)))
    counters.append((Name.addresses, UInt64(addressChangeCount)))
    counters.append((Name.raw, UInt64(rawChanges)))
    return counters
  }

  /// Goes on from what was kept. For a target that has not been probed yet; what is not known, such as the runs of a
  /// probe that the target no longer has, is left out.
  public mutating func restore(_ counters: [NamedCount], transitions: (Status) -> UInt64) {
    for status in Status.allCases { self.transitions[status] = UInt32(clamping: transitions(status)) }
    for (name, value) in counters {
      let count = UInt32(clamping: value)
      switch name {
      case Name.path: pathChanges = count
      case Name.addresses: addressChangeCount = count
      case Name.raw: rawChanges = count
      default:
        if let status = Name.rest(of: name, behind: Name.status).flatMap(Status.init) {
          // With room for a hundred years more.
          spent[status] = Int64(clamping: min(value, UInt64(Int64.max / 2)))
        } else if let rest = Name.rest(of: name, behind: Name.runs) {
          restoreRuns(rest, count)
        } else if let rest = Name.rest(of: name, behind: Name.failures) {
          restoreFailures(rest, count)
        }
      }
    }
  }

  private mutating func restoreRuns(_ rest: String, _ count: UInt32) {
    for (index, outcome) in Name.outcomes.enumerated() {
      guard let probe = Name.rest(of: rest, behind: outcome + "."),
        let place = probes.firstIndex(where: { $0.name == probe })
      else { continue }
      probes[place].counts[index] = count
    }
  }

  private mutating func restoreFailures(_ rest: String, _ count: UInt32) {
    guard detail != .compact, let dot = rest.firstIndex(of: "."), let reason = Reason(spelling: String(rest[..<dot])),
      let probe = probes.firstIndex(where: { $0.name == String(rest[rest.index(after: dot)...]) })
    else { return }
    self.count(reason, of: UInt8(truncatingIfNeeded: probe), times: count)
  }

  /// How counters are named. Others keep these names on a disk: they do not change.
  private enum Name {
    static let status = "status_nanoseconds."
    static let runs = "probe_runs."
    static let failures = "probe_failures."
    static let path = "path_changes"
    static let addresses = "address_changes"
    static let raw = "raw_changes"
    static let outcomes = ["success", "failure", "error", "skipped"]

    static func rest(of name: String, behind prefix: String) -> String? {
      name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : nil
    }
  }
}

extension ProbeSeries {
  /// The runs by outcome: success, failure, error, skipped.
  fileprivate var counts: [UInt32] {
    get { [runs.success, runs.failure, runs.error, runs.skipped] }
    set { if newValue.count == 4 { runs = (newValue[0], newValue[1], newValue[2], newValue[3]) } }
  }
}
