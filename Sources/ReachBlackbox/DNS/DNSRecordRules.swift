internal import ReachConfig

extension DNSModule.RecordRules {
  /// What is wrong with the records of a section.
  enum Violation: Hashable, Sendable {
    /// There are none, and this rule wants some.
    case noRecords(rule: String)
    /// This record matches what none may match.
    case match(pattern: String, record: String)
    /// This record does not match what every one must match.
    case noMatch(pattern: String, record: String)
    /// Some record does not match some pattern of `fail_if_all_match_regexp`.
    case notAllMatch
    /// No record matches any pattern of `fail_if_none_matches_regexp`.
    case noneMatches
  }

  /// What is wrong with the records, given as text; nil when nothing is.
  ///
  /// The rules mean what they mean to blackbox_exporter, which for `fail_if_all_match_regexp` is that every record must
  /// match each of its patterns. Without any record nothing is wrong, unless a match is asked for.
  func violation(by records: [String]) -> Violation? {
    if records.isEmpty, !failIfNotMatches.isEmpty { return .noRecords(rule: "fail_if_not_matches_regexp") }
    if records.isEmpty, !failIfNoneMatches.isEmpty { return .noRecords(rule: "fail_if_none_matches_regexp") }
    var allMatch = true
    var anyMatches = false
    for record in records {
      let text = Array(record.utf8)
      if let pattern = failIfMatches.first(where: { $0.matches(text) }) {
        return .match(pattern: pattern.pattern, record: record)
      }
      allMatch = allMatch && failIfAllMatch.allSatisfy { $0.matches(text) }
      if let pattern = failIfNotMatches.first(where: { !$0.matches(text) }) {
        return .noMatch(pattern: pattern.pattern, record: record)
      }
      anyMatches = anyMatches || failIfNoneMatches.contains { $0.matches(text) }
    }
    if !failIfAllMatch.isEmpty, !allMatch { return .notAllMatch }
    if !failIfNoneMatches.isEmpty, !anyMatches { return .noneMatches }
    return nil
  }
}

extension DNSModule.RecordRules.Violation {
  /// In the words of blackbox_exporter.
  var text: String {
    switch self {
    case .noRecords(let rule): "\(rule) specified but no RRs returned"
    case .match: "At least one RR matched regexp"
    case .noMatch: "At least one RR did not match regexp"
    case .notAllMatch: "Not all RRs matched regexp"
    case .noneMatches: "None of the RRs did matched any regexp"
    }
  }

  /// What the words are about.
  var fields: KeyValuePairs<String, String> {
    switch self {
    case .match(let pattern, let record), .noMatch(let pattern, let record): ["regexp": pattern, "rr": record]
    case .noRecords, .notAllMatch, .noneMatches: [:]
    }
  }
}
