internal import ReachCore
internal import ReachState

/// Changes of status as a table for people, in columns that line up.
struct HistoryReport {
  let transitions: [Transition]
  let isDecorated: Bool

  private static let heads = ["TIME", "TARGET", "STATUS", "FLAGS", "REASON", "INTERFACE", "BEFORE"]
  /// A name longer than this stands out of its column rather than widening all of them.
  private static let widest = 40

  /// The whole text, each line with its end.
  var text: String {
    let rows = transitions.map(cells)
    var widths = Self.heads.map(\.count)
    for row in rows {
      for (index, cell) in row.enumerated() { widths[index] = max(widths[index], min(Self.widest, cell.count)) }
    }
    var text = line(Self.heads, widths)
    for (row, transition) in zip(rows, transitions) { text += line(row, widths, status: transition.to) }
    return text
  }

  private func cells(_ transition: Transition) -> [String] {
    let time = Timestamp(nanosecondsSinceEpoch: transition.at).description
    let lasted = transition.inPrevious.map { " for \($0.brief)" } ?? ""
    return [
      // To the millisecond.
      String(time.dropLast(4)) + "Z", Self.printable(transition.target), transition.to.rawValue,
      transition.flags?.description ?? ReachabilityFlags.absentDescription, Self.printable(transition.reason),
      Self.printable(transition.interface), transition.from.rawValue + lasted,
    ]
  }

  private func line(_ cells: [String], _ widths: [Int], status: Status? = nil) -> String {
    var text = ""
    for (index, cell) in cells.enumerated() {
      let isLast = index == cells.count - 1
      let padded = isLast ? cell : ProbeReport.pad(cell, to: widths[index]) + "  "
      text += index == 2 && isDecorated ? painted(padded, status) : padded
    }
    return text + "\n"
  }

  private func painted(_ text: String, _ status: Status?) -> String {
    guard let status else { return text }
    let colour = status.isReachable ? "32" : status == .unknown ? "33" : "31"
    return "\u{1b}[\(colour)m\(text)\u{1b}[0m"
  }

  /// A text that keeps to its line and to its colours, whatever is in it.
  static func printable(_ text: String) -> String {
    var printable = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case ..<0x20, 0x7f...0x9f, 0x2028...0x202e, 0x2066...0x2069: printable.append("\u{fffd}")
      default: printable.append(scalar)
      }
    }
    return String(printable)
  }
}
