import ReachConfig
import Testing

@testable import ReachBlackbox

@Suite struct DNSRecordRulesTests {
  typealias Rules = DNSModule.RecordRules

  static let records = ["ns1.isp.test.\t7200\tIN\tA\t127.0.0.1", "ns1.isp.test.\t7200\tIN\tAAAA\t::1"]

  static func rules(
    _ matches: [String] = [], all: [String] = [], not: [String] = [], none: [String] = []
  ) throws -> Rules {
    var rules = Rules()
    rules.failIfMatches = try matches.map { try RegularExpression($0) }
    rules.failIfAllMatch = try all.map { try RegularExpression($0) }
    rules.failIfNotMatches = try not.map { try RegularExpression($0) }
    rules.failIfNoneMatches = try none.map { try RegularExpression($0) }
    return rules
  }

  @Test("without rules nothing is wrong")
  func noRules() {
    #expect(Rules().violation(by: Self.records) == nil)
    #expect(Rules().violation(by: []) == nil)
  }

  @Test("fail_if_matches_regexp: no record may match any pattern")
  func matches() throws {
    #expect(try Self.rules(["7201", "\tMX\t"]).violation(by: Self.records) == nil)
    #expect(try Self.rules(["x"]).violation(by: []) == nil)
    #expect(
      try Self.rules(["7201", "AAAA"]).violation(by: Self.records)
        == .match(pattern: "AAAA", record: Self.records[1]))
  }

  @Test("fail_if_all_match_regexp: every record must match every pattern, as blackbox_exporter has it")
  func allMatch() throws {
    #expect(try Self.rules(all: ["7200", "isp"]).violation(by: Self.records) == nil)
    #expect(try Self.rules(all: ["127"]).violation(by: Self.records) == .notAllMatch)
    #expect(try Self.rules(all: ["7200", "127"]).violation(by: Self.records) == .notAllMatch)
    #expect(try Self.rules(all: ["127"]).violation(by: []) == nil)
  }

  @Test("fail_if_not_matches_regexp: there is a record, and every record matches every pattern")
  func notMatches() throws {
    #expect(try Self.rules(not: ["^ns1", "\tIN\t"]).violation(by: Self.records) == nil)
    #expect(
      try Self.rules(not: ["^ns1", "127"]).violation(by: Self.records)
        == .noMatch(pattern: "127", record: Self.records[1]))
    #expect(try Self.rules(not: ["."]).violation(by: []) == .noRecords(rule: "fail_if_not_matches_regexp"))
  }

  @Test("fail_if_none_matches_regexp: some record matches some pattern")
  func noneMatches() throws {
    #expect(try Self.rules(none: ["10.0.0.1", "127"]).violation(by: Self.records) == nil)
    #expect(try Self.rules(none: ["10.0.0.1"]).violation(by: Self.records) == .noneMatches)
    #expect(try Self.rules(none: ["."]).violation(by: []) == .noRecords(rule: "fail_if_none_matches_regexp"))
  }

  @Test("the first thing that is wrong is told, record by record")
  func order() throws {
    // The second record is wrong in two ways; of the two that are wrong with all records together, one comes first.
    #expect(try Self.rules(["::1"], not: ["127"]).violation(by: Self.records)?.text == "At least one RR matched regexp")
    #expect(try Self.rules(all: ["x"], none: ["y"]).violation(by: Self.records) == .notAllMatch)
    #expect(try Self.rules(["127"], not: ["::1"]).violation(by: Self.records)?.text == "At least one RR matched regexp")
  }
}
