internal import ReachBlackbox
internal import ReachCore

/// The page at `/`: every target's status in a table that a person can read, without scripts or anything to fetch.
struct StatusPage {
  let version: String
  let targets: [TargetView]
  /// What `/probe` was asked for, the newest first.
  var probes: [ProbeHistory.Entry] = []

  var bytes: [UInt8] {
    var text = Self.head
    text += "<h1>reachd <small>\(Self.escape(version))</small></h1>\n"
    text += "<p>" + summary + "</p>\n"
    if !targets.isEmpty {
      text += "<table>\n<thead><tr><th>Target<th>Status<th>Flags<th>Reason<th>Path<th>Since</tr></thead>\n"
      text += "<tbody>\n"
      for target in targets { text += row(target) }
      text += "</tbody>\n</table>\n"
    }
    if !probes.isEmpty {
      text += "<h2>Recent probes</h2>\n<table>\n<thead><tr><th>Module<th>Target<th>Result<th>Time<th></tr></thead>\n"
      text += "<tbody>\n"
      for probe in probes { text += Self.row(probe) }
      text += "</tbody>\n</table>\n"
    }
    text += Self.foot
    return Array(text.utf8)
  }

  private var summary: String {
    func count(_ status: Status) -> Int { targets.count { $0.state.verdict.status == status } }
    guard !targets.isEmpty else { return "No targets are configured." }
    let reachable = targets.count { $0.state.verdict.status.isReachable }
    return
      "\(reachable) of \(targets.count) reachable, \(count(.notReachable)) NotReachable, \(count(.unknown)) Unknown"
  }

  private func row(_ view: TargetView) -> String {
    let verdict = view.state.verdict
    let path = verdict.path
    let way = [path.interface, path.gateway.map { "via \($0)" } ?? "", path.address.map { "to \($0)" } ?? ""]
    let since = view.state.since.map { Timestamp(nanosecondsSinceEpoch: $0).description } ?? ""
    let flags = verdict.flags?.description ?? ReachabilityFlags.absentDescription
    return "<tr class=\"\(verdict.status.rawValue)\"><td>\(Self.escape(view.target.name))"
      + "<td>\(verdict.status.rawValue)\(view.state.isStale ? " (stale)" : "")<td><code>\(flags)</code>"
      + "<td>\(verdict.reason) <small>\(Self.escape(verdict.reason.explanation))</small>"
      + "<td>\(Self.escape(way.filter { !$0.isEmpty }.joined(separator: " ")))<td>\(since)</tr>\n"
  }

  private static func row(_ probe: ProbeHistory.Entry) -> String {
    "<tr class=\"\(probe.isSuccess ? "" : "failed")\"><td>\(escape(probe.module))<td>\(escape(probe.target))"
      + "<td>\(probe.isSuccess ? "Success" : "Failure")<td>\(Timestamp(nanosecondsSinceEpoch: probe.at))"
      + "<td><a href=\"/logs?id=\(probe.number)\">Logs</a></tr>\n"
  }

  private static let head = """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <title>reachd</title>
    <style>
    body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem; color: #222; background: #fff }
    h1 { font-size: 1.4rem } h2 { font-size: 1.1rem } small { color: #777; font-weight: normal }
    table { border-collapse: collapse } th { text-align: left }
    th, td { padding: .3rem 1rem .3rem 0; border-bottom: 1px solid #ddd; vertical-align: top }
    tr.failed td:nth-child(3), tr.NotReachable td:nth-child(2) { color: #b00020; font-weight: bold }
    tr.Unknown td:nth-child(2) { color: #8a6d00; font-weight: bold }
    tr.ReachableViaWiFi td:nth-child(2), tr.ReachableViaWWAN td:nth-child(2) { color: #1b6e2c }
    code { white-space: pre }
    </style>
    </head>
    <body>

    """

  private static let foot = """
    <p><a href="/metrics">/metrics</a> · <a href="/api/v1/targets">/api/v1/targets</a> · <a href="/-/healthy">/-/healthy</a>
    · <a href="/-/ready">/-/ready</a></p>
    </body>
    </html>

    """

  static func escape(_ text: String) -> String {
    var escaped = ""
    for character in text.unicodeScalars {
      switch character {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      default: escaped.unicodeScalars.append(character)
      }
    }
    return escaped
  }
}
