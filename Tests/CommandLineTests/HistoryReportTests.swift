import ReachCore
import ReachState
import Testing

@testable import reachd

@Suite struct HistoryReportTests {
  private static func transition(
    _ target: String, _ from: Status, _ to: Status, inPrevious: Duration? = nil
  ) -> Transition {
    Transition(
      sequence: 2, at: 1_700_000_000_123_456_789, target: target, from: from, to: to,
      flags: to == .unknown ? nil : to.isReachable ? [.reachable] : [], layer: "tcp",
      reason: to.isReachable ? "tcp_open" : "tcp_timeout", interface: "eth0", inPrevious: inPrevious)
  }

  @Test("the columns line up, and each line says what is, why, and what was for how long")
  func table() {
    let report = HistoryReport(
      transitions: [
        Self.transition("db", .reachableViaWiFi, .notReachable, inPrevious: .seconds(11_520)),
        Self.transition("a longer name", .notReachable, .reachableViaWiFi, inPrevious: .milliseconds(4_040)),
        Self.transition("db", .notReachable, .unknown),
      ], isDecorated: false)
    #expect(
      report.text == """
        TIME                      TARGET         STATUS            FLAGS       REASON       INTERFACE  BEFORE
        2023-11-14T22:13:20.123Z  db             NotReachable      -- -------  tcp_timeout  eth0       ReachableViaWiFi for 3h12m
        2023-11-14T22:13:20.123Z  a longer name  ReachableViaWiFi  -R -------  tcp_open     eth0       NotReachable for 4.0s
        2023-11-14T22:13:20.123Z  db             Unknown           ?? ???????  tcp_timeout  eth0       NotReachable

        """)
  }

  @Test("a name keeps to its line and its colours, and a long one does not widen all lines")
  func oddNames() {
    let report = HistoryReport(
      transitions: [
        Self.transition("two\nlines \u{1b}[31m", .unknown, .notReachable),
        Self.transition(String(repeating: "x", count: 300), .unknown, .notReachable),
      ], isDecorated: false)
    let lines = report.text.split(separator: "\n")
    #expect(lines.count == 3)
    #expect(!report.text.contains("\u{1b}"))
    #expect(lines[1].count < 160)
  }

  @Test("colour is for the status alone, where it may be used")
  func colour() {
    let report = HistoryReport(transitions: [Self.transition("db", .unknown, .notReachable)], isDecorated: true)
    #expect(report.text.contains("\u{1b}[31mNotReachable"))
    #expect(!report.text.split(separator: "\n")[0].contains("\u{1b}"))
  }

  @Test(
    "a length of time is told in its two largest units",
    arguments: [
      (Duration.milliseconds(2_960), "2.9s"), (.seconds(59), "59s"), (.seconds(61), "1m1s"), (.seconds(7_260), "2h1m"),
      (.seconds(90_000), "1d1h"), (.seconds(-5), "0.0s"),
    ])
  func durations(duration: Duration, text: String) {
    #expect(duration.brief == text)
  }
}
