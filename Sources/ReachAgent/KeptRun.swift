internal import ReachCore
internal import ReachScheduler

/// The newest run of one probe, in the little that is shown of it: there is one for every probe of every target.
struct KeptRun {
  private enum Outcome {
    case success
    case failure(Reason)
    case error(Reason)
  }

  /// The probe's place among those of its target.
  private(set) var place: UInt8
  /// Whether an older answer of DNS stood in.
  private let isStale: Bool
  private let outcome: Outcome
  /// In nanoseconds; negative when there is none.
  private let duration: Int64
  private let at: Int64

  /// What is kept of a run; nil of one that did not take place.
  init?(_ run: ProbeRun, place: Int, at wall: Int64) {
    switch run.outcome {
    case .success: outcome = .success
    case .failure(let reason): outcome = .failure(reason)
    case .error(let fault): outcome = .error(fault.reason)
    case .skipped: return nil
    }
    guard let place = UInt8(exactly: place) else { return nil }
    self.place = place
    isStale = run.detail == .dnsStale
    duration = run.duration?.nanoseconds ?? -1
    at = wall
  }

  /// The run of the same probe among others; nil when it is not among them.
  func moved(from old: [PlannedProbe], to new: [PlannedProbe]) -> KeptRun? {
    guard old.indices.contains(Int(place)) else { return nil }
    let name = old[Int(place)].name
    guard let place = new.firstIndex(where: { $0.name == name }).flatMap({ UInt8(exactly: $0) }) else { return nil }
    var moved = self
    moved.place = place
    return moved
  }

  /// The run again, by the name of its probe.
  func lastRun(among probes: [PlannedProbe]) -> TargetView.LastRun {
    let outcome: ProbeOutcome =
      switch self.outcome {
      case .success: .success
      case .failure(let reason): .failure(reason)
      case .error(let reason): .error(LocalFault(reason))
      }
    let name = probes.indices.contains(Int(place)) ? probes[Int(place)].name : ""
    return TargetView.LastRun(
      run: ProbeRun(
        probe: name, outcome: outcome, duration: duration < 0 ? nil : .nanoseconds(duration),
        detail: isStale ? .dnsStale : nil), at: at)
  }
}
