internal import ReachCore

/// What one round saw, as text a person pastes into a ticket: a line a layer, then flags, status and reason.
struct ProbeReport {
  let target: Target
  let report: RoundReport
  let verdict: Verdict
  let isDecorated: Bool

  /// The whole text, each line with its end.
  var text: String {
    var text = target.name + "\n"
    for run in report.runs {
      let findings = lines(for: run)
      text += "  " + heading(of: run) + (findings.first ?? "") + "\n"
      for line in findings.dropFirst() { text += String(repeating: " ", count: Self.indent) + line + "\n" }
    }
    return text + "  " + summary + "\n"
  }

  private static let indent = 25

  private func heading(of run: ProbeRun) -> String {
    let mark =
      switch run.outcome {
      case .success: isDecorated ? "\u{1b}[32m✓\u{1b}[0m   " : "ok  "
      case .failure, .error: isDecorated ? "\u{1b}[31m✗\u{1b}[0m   " : "FAIL"
      case .skipped: "-   "
      }
    let duration = run.duration.map(DurationText.short) ?? ""
    return mark + " " + Self.pad(run.probe, to: 6) + " " + Self.pad(duration, to: 8, left: true) + "   "
  }

  private var summary: String {
    let flags = verdict.flags?.description ?? ReachabilityFlags.absentDescription
    var text = "\(flags)  \(verdict.status.rawValue)  \(verdict.reason) (\(verdict.reason.explanation))"
    if verdict.addresses.count > 1 {
      let reachable = verdict.addresses.count { $0.state == .reachable }
      text += ", \(reachable) of \(verdict.addresses.count) addresses reachable"
    }
    guard isDecorated else { return text }
    let colour = verdict.status.isReachable ? "32" : verdict.status == .unknown ? "33" : "31"
    text = "\u{1b}[\(colour)m\(text)\u{1b}[0m"
    return text
  }

  private func lines(for run: ProbeRun) -> [String] {
    let findings = report.findings
    switch run.outcome {
    case .skipped where findings.dns?.isCached != true || run.probe != "dns":
      return [deciding(before: run).map { "not run: \($0) had decided" } ?? "not run"]
    case .error(let fault):
      return [
        fault.detail.isEmpty ? "\(fault.reason): \(fault.reason.explanation)" : "\(fault.reason): \(fault.detail)"
      ]
    default: break
    }
    let lines: [String] =
      switch run.probe {
      case "dns": findings.dns.map { [FindingText.dns($0)] } ?? []
      case "route": findings.candidates.map { FindingText.route($0, among: findings.candidates.count) }
      case "link": findings.candidates.compactMap(FindingText.link).uniqued()
      case "tcp": findings.candidates.map { FindingText.tcp($0, port: port) }
      default: []
      }
    if lines.isEmpty, let reason = run.outcome.reason { return ["\(reason): \(reason.explanation)"] }
    return lines
  }

  /// The probe that left this one nothing to do.
  private func deciding(before run: ProbeRun) -> String? {
    report.runs.prefix { $0.probe != run.probe }.last { $0.outcome.reason != nil }?.probe
  }

  private var port: UInt16? { target.port }

  static func pad(_ text: String, to width: Int, left: Bool = false) -> String {
    let spaces = String(repeating: " ", count: max(0, width - text.count))
    return left ? spaces + text : text + spaces
  }
}

extension Array where Element: Equatable {
  /// The elements without repetitions, in the order in which they first stand.
  fileprivate func uniqued() -> [Element] {
    reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }
}
