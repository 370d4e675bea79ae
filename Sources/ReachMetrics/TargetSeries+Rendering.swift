internal import ReachCore

extension TargetSeries {
  /// Writes this target's series of one family; nothing where there is no value. Histograms may begin to be native.
  mutating func write(
    _ kind: TargetFamily, _ family: Family, _ pieces: TargetPieces, at now: Instant, to writer: inout SeriesWriter
  ) {
    if detail == .compact, !kind.isCompact { return }
    switch kind {
    case .status:
      writer.share(family.opening, labels)
      for index in 0..<pieces.statuses.count {
        let (status, tail) = pieces.statuses[index]
        writer.series(tail, status == self.status ? 1 : 0)
      }
    case .flags: write(flags.map { Int64($0.rawValue) }, family, pieces, to: &writer)
    case .flag:
      guard let flags else { return }
      writer.share(family.opening, labels)
      for index in 0..<pieces.flags.count {
        let (flag, tail) = pieces.flags[index]
        writer.series(tail, flags.contains(flag) ? 1 : 0)
      }
    case .reason: writeReason(family, to: &writer)
    case .path: write(info: path, family, to: &writer)
    case .transitions:
      writer.share(family.opening, labels)
      for index in 0..<pieces.destinations.count {
        let (status, tail) = pieces.destinations[index]
        writer.series(tail, Int64(transitions[status]))
      }
    case .statusTimestamp: write(seconds: since, family, pieces, to: &writer)
    case .statusSeconds:
      writer.share(family.opening, labels)
      for index in 0..<pieces.statuses.count {
        let (status, tail) = pieces.statuses[index]
        writer.series(tail, seconds: nanoseconds(in: status, at: now))
      }
    case .stale: write(isStale ? 1 : 0, family, pieces, to: &writer)
    case .probeSuccess, .probeRuns, .probeDuration, .probeFailures: writeProbes(kind, family, pieces, to: &writer)
    case .addresses:
      guard let addresses else { return }
      writer.share(family.opening, labels)
      for index in 0..<pieces.addresses.count {
        let (family, state, tail) = pieces.addresses[index]
        writer.series(tail, Int64(addresses[family, state]))
      }
    case .tcpRTT: write(seconds: rtt, family, pieces, to: &writer)
    case .dnsTTL: write(seconds: ttl, family, pieces, to: &writer)
    case .addressChanges: write(addressChanges.map(Int64.init), family, pieces, to: &writer)
    case .pathChanges: write(Int64(pathChanges), family, pieces, to: &writer)
    case .rawChanges: write(Int64(rawChanges), family, pieces, to: &writer)
    case .flapping: write(isFlapping ? 1 : 0, family, pieces, to: &writer)
    case .cause:
      if status == .notReachable { write(info: cause, family, to: &writer) }
    }
  }

  /// How many probes the compact detail has room for, within its twelve series: more than two that use the network takes
  /// backends of somebody else's.
  private static let compactProbes = 2

  private mutating func writeProbes(
    _ kind: TargetFamily, _ family: Family, _ pieces: TargetPieces, to writer: inout SeriesWriter
  ) {
    switch kind {
    case .probeSuccess:
      var room = detail == .compact ? Self.compactProbes : probes.count
      for index in probes.indices where detail != .compact || probes[index].usesNetwork {
        if room == 0 { break }
        room -= 1
        guard probes[index].last != .none else { continue }
        writer.share(family.opening, labels, probes[index].label)
        writer.series(pieces.end, probes[index].last == .success ? 1 : 0)
      }
    case .probeRuns:
      for index in probes.indices {
        let runs = probes[index].runs
        writer.share(family.opening, labels, probes[index].label)
        writer.series(pieces.success, Int64(runs.success))
        writer.series(pieces.failure, Int64(runs.failure))
        writer.series(pieces.error, Int64(runs.error))
        writer.series(pieces.skipped, Int64(runs.skipped))
      }
    case .probeDuration:
      for index in probes.indices {
        let label = probes[index].label
        probes[index].durations?.write(family, labels, label, to: &writer)
      }
    default: writeFailures(family, to: &writer)
    }
  }

  private func writeFailures(_ family: Family, to writer: inout SeriesWriter) {
    for failure in failures where Int(failure.probe) < probes.count {
      writer.share(family.opening, labels, probes[Int(failure.probe)].label)
      if let tail = ReasonPieces.failure(failure.reason) {
        writer.series(tail, Int64(failure.count))
      } else {
        var tail: [UInt8] = [UInt8(ascii: ",")]
        LabelText.append("reason", failure.reason.description, to: &tail)
        writer.series(labels: tail, Int64(failure.count))
      }
    }
  }

  private func writeReason(_ family: Family, to writer: inout SeriesWriter) {
    if let reasonTail {
      writer.share(family.opening, labels)
      return writer.series(reasonTail, 1)
    }
    var tail: [UInt8] = [UInt8(ascii: ",")]
    LabelText.append("layer", reason.layer.rawValue, to: &tail)
    tail.append(UInt8(ascii: ","))
    LabelText.append("reason", reason.description, to: &tail)
    write(info: tail, family, to: &writer)
  }

  private func write(info tail: [UInt8], _ family: Family, to writer: inout SeriesWriter) {
    guard !tail.isEmpty else { return }
    writer.share(family.opening, labels)
    writer.series(labels: tail, 1)
  }

  private func write(_ value: Int64?, _ family: Family, _ pieces: TargetPieces, to writer: inout SeriesWriter) {
    guard let value else { return }
    writer.share(family.opening, labels)
    writer.series(pieces.end, value)
  }

  private func write(
    seconds nanoseconds: Int64?, _ family: Family, _ pieces: TargetPieces, to writer: inout SeriesWriter
  ) {
    guard let nanoseconds else { return }
    writer.share(family.opening, labels)
    writer.series(pieces.end, seconds: nanoseconds)
  }
}
