internal import ReachCore

/// The constant parts of the series about targets, each made once.
final class TargetPieces: Sendable {
  static let shared = TargetPieces()

  let end = SeriesWriter.end
  let statuses: StaticList<(Status, StaticBytes)> = tails("status", Status.shown) { $0.rawValue }
  let destinations: StaticList<(Status, StaticBytes)> = tails("to", Status.shown) { $0.rawValue }
  let flags: StaticList<(ReachabilityFlags, StaticBytes)> = tails("flag", ReachabilityFlags.shown) { $0.name }
  let success = StaticBytes(",outcome=\"success\"} ")
  let failure = StaticBytes(",outcome=\"failure\"} ")
  let error = StaticBytes(",outcome=\"error\"} ")
  let skipped = StaticBytes(",outcome=\"skipped\"} ")
  let addresses = StaticList(
    IPAddress.Family.allCases.flatMap { family in
      AddressVerdict.State.allCases.map { state in
        (family, state, StaticBytes(",family=\"\(family.rawValue)\",state=\"\(state.rawValue)\"} "))
      }
    })
}

private func tails<Item: Sendable>(
  _ label: String, _ items: [Item], _ value: (Item) -> String
) -> StaticList<(Item, StaticBytes)> {
  StaticList(items.map { ($0, StaticBytes(",\(label)=\"\(value($0))\"} ")) })
}

extension Status {
  /// In the order of the series.
  fileprivate static let shown: [Status] = [.unknown, .notReachable, .reachableViaWWAN, .reachableViaWiFi]
}

extension ReachabilityFlags {
  /// In the order of the series.
  fileprivate static let shown = all.map(\.flag).sorted { $0.rawValue < $1.rawValue }

  fileprivate var name: String { Self.all.first { $0.flag == self }?.name ?? "" }
}

/// The labels that name a reason, each made once. The errors of this host are too many for that.
enum ReasonPieces {
  private static let infos = tails { ",layer=\"\($0.layer.rawValue)\",reason=\"\($0)\"} " }
  private static let failures = tails { ",reason=\"\($0)\"} " }

  /// `,layer="tcp",reason="tcp_open"} `.
  static func info(_ reason: Reason) -> StaticBytes? { infos[reason] }

  /// `,reason="tcp_refused"} `.
  static func failure(_ reason: Reason) -> StaticBytes? { failures[reason] }

  private static func tails(_ text: (Reason) -> String) -> [Reason: StaticBytes] {
    Dictionary(Reason.fixed.map { ($0, StaticBytes(text($0))) }) { first, _ in first }
  }
}
