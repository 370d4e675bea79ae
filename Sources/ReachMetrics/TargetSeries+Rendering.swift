internal import ReachCore

/// The constant pieces between a target's labels and a series' number, each made once.
private enum Piece {
  static let end = Array("} ".utf8)
  static let one = Array("} 1\n".utf8)
  static let newline = UInt8(ascii: "\n")
  static let statuses: [(Status, [UInt8])] = [
    Status.unknown, .notReachable, .reachableViaWWAN, .reachableViaWiFi,
  ].map { ($0, Array(",status=\"\($0.rawValue)\"} ".utf8)) }
  static let destinations: [(Status, [UInt8])] = [
    Status.unknown, .notReachable, .reachableViaWWAN, .reachableViaWiFi,
  ].map { ($0, Array(",to=\"\($0.rawValue)\"} ".utf8)) }
  static let flags: [(ReachabilityFlags, [UInt8])] = ReachabilityFlags.all
    .map { ($0.flag, $0.name) }
    .sorted { $0.0.rawValue < $1.0.rawValue }
    .map { ($0.0, Array(",flag=\"\($0.1)\"} ".utf8)) }
  static let success = Array(",outcome=\"success\"} ".utf8)
  static let failure = Array(",outcome=\"failure\"} ".utf8)
  static let error = Array(",outcome=\"error\"} ".utf8)
  static let skipped = Array(",outcome=\"skipped\"} ".utf8)
  static let addresses: [(IPAddress.Family, AddressVerdict.State, [UInt8])] = IPAddress.Family.allCases.flatMap {
    family in
    AddressVerdict.State.allCases.map { state in
      (family, state, Array(",family=\"\(family.rawValue)\",state=\"\(state.rawValue)\"} ".utf8))
    }
  }
  static let duration = HistogramNames(TargetFamily.probeDuration.family.name)
}

extension TargetSeries {
  /// Appends this target's series of one family; nothing where there is no value.
  func render(_ family: TargetFamily, at now: Instant, into bytes: inout [UInt8]) {
    if detail == .compact, !family.isCompact { return }
    let opening = family.family.opening
    switch family {
    case .status:
      for (status, tail) in Piece.statuses { series(opening, tail, status == self.status ? 1 : 0, &bytes) }
    case .flags:
      if let flags { series(opening, Piece.end, Int64(flags.rawValue), &bytes) }
    case .flag:
      guard let flags else { return }
      for (flag, tail) in Piece.flags { series(opening, tail, flags.contains(flag) ? 1 : 0, &bytes) }
    case .reason: renderReason(opening, &bytes)
    case .path: info(opening, path, &bytes)
    case .transitions:
      for (status, tail) in Piece.destinations { series(opening, tail, Int64(transitions[status]), &bytes) }
    case .statusTimestamp: seconds(opening, Piece.end, since, &bytes)
    case .statusSeconds:
      for (status, tail) in Piece.statuses { seconds(opening, tail, nanoseconds(in: status, at: now), &bytes) }
    case .stale: series(opening, Piece.end, isStale ? 1 : 0, &bytes)
    case .probeSuccess, .probeRuns, .probeDuration, .probeFailures: renderProbes(family, opening, &bytes)
    case .addresses:
      guard let addresses else { return }
      for (family, state, tail) in Piece.addresses { series(opening, tail, Int64(addresses[family, state]), &bytes) }
    case .tcpRTT: seconds(opening, Piece.end, rtt, &bytes)
    case .dnsTTL: seconds(opening, Piece.end, ttl, &bytes)
    case .addressChanges:
      if let addressChanges { series(opening, Piece.end, Int64(addressChanges), &bytes) }
    case .pathChanges: series(opening, Piece.end, Int64(pathChanges), &bytes)
    case .rawChanges: series(opening, Piece.end, Int64(rawChanges), &bytes)
    case .flapping: series(opening, Piece.end, isFlapping ? 1 : 0, &bytes)
    case .cause:
      if status == .notReachable { info(opening, cause, &bytes) }
    }
  }

  private func renderProbes(_ family: TargetFamily, _ opening: [UInt8], _ bytes: inout [UInt8]) {
    switch family {
    case .probeSuccess:
      for probe in probes where probe.last != .none && (detail != .compact || probe.usesNetwork) {
        bytes.append(contentsOf: opening)
        bytes.append(contentsOf: labels)
        bytes.append(contentsOf: probe.label)
        bytes.append(contentsOf: Piece.end)
        bytes.append(UInt8(ascii: probe.last == .success ? "1" : "0"))
        bytes.append(Piece.newline)
      }
    case .probeRuns:
      for probe in probes {
        run(opening, probe.label, Piece.success, probe.runs.success, &bytes)
        run(opening, probe.label, Piece.failure, probe.runs.failure, &bytes)
        run(opening, probe.label, Piece.error, probe.runs.error, &bytes)
        run(opening, probe.label, Piece.skipped, probe.runs.skipped, &bytes)
      }
    case .probeDuration:
      for probe in probes {
        probe.durations?.render(Piece.duration, labels: labels, and: probe.label, into: &bytes)
      }
    default:
      for failure in failures where Int(failure.probe) < probes.count {
        var tail: [UInt8] = [UInt8(ascii: ",")]
        LabelText.append("reason", failure.reason.description, to: &tail)
        tail.append(contentsOf: Piece.end)
        run(opening, probes[Int(failure.probe)].label, tail, failure.count, &bytes)
      }
    }
  }

  private func renderReason(_ opening: [UInt8], _ bytes: inout [UInt8]) {
    bytes.append(contentsOf: opening)
    bytes.append(contentsOf: labels)
    bytes.append(contentsOf: ",layer=\"".utf8)
    bytes.append(contentsOf: reason.layer.rawValue.utf8)
    bytes.append(contentsOf: "\",reason=\"".utf8)
    bytes.append(contentsOf: reason.description.utf8)
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: Piece.one)
  }

  private func series(_ opening: [UInt8], _ tail: [UInt8], _ value: Int64, _ bytes: inout [UInt8]) {
    bytes.append(contentsOf: opening)
    bytes.append(contentsOf: labels)
    bytes.append(contentsOf: tail)
    bytes.append(decimal: value)
    bytes.append(Piece.newline)
  }

  private func seconds(_ opening: [UInt8], _ tail: [UInt8], _ nanoseconds: Int64?, _ bytes: inout [UInt8]) {
    guard let nanoseconds else { return }
    bytes.append(contentsOf: opening)
    bytes.append(contentsOf: labels)
    bytes.append(contentsOf: tail)
    bytes.append(seconds: nanoseconds)
    bytes.append(Piece.newline)
  }

  private func info(_ opening: [UInt8], _ tail: [UInt8], _ bytes: inout [UInt8]) {
    guard !tail.isEmpty else { return }
    bytes.append(contentsOf: opening)
    bytes.append(contentsOf: labels)
    bytes.append(contentsOf: tail)
    bytes.append(contentsOf: Piece.one)
  }

  private func run(
    _ opening: [UInt8], _ probe: [UInt8], _ tail: [UInt8], _ count: UInt32, _ bytes: inout [UInt8]
  ) {
    bytes.append(contentsOf: opening)
    bytes.append(contentsOf: labels)
    bytes.append(contentsOf: probe)
    bytes.append(contentsOf: tail)
    bytes.append(decimal: count)
    bytes.append(Piece.newline)
  }
}
