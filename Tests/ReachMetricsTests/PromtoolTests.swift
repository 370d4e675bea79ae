import Glibc
import ReachCore
import ReachMetrics
import ReachTestSupport
import Testing

/// Where Debian's prometheus package puts promtool; nil where it is not installed.
private let promtool: String? = ["/usr/bin/promtool", "/usr/local/bin/promtool"].first {
  unsafe access($0, X_OK) == 0
}

/// Whether a test that needs promtool is to be run: when it is there, or when nothing may be left out.
private let mayRun = unsafe promtool != nil || getenv("REACHD_REQUIRE_ALL_TESTS") != nil

@Suite struct PromtoolTests {
  // promtool comes with Debian's prometheus package, which a machine that only builds need not have.
  @Test("promtool finds nothing to say about the exposition", .enabled(if: mayRun, "needs promtool"))
  func accepts() throws {
    let promtool = try #require(promtool)
    var agent = ExpositionTests.agent
    agent.plugins = [("tcp", "0.1.0")]
    agent.isLastReloadSuccessful = true
    agent.lastReloadSuccess = 1_700_000_000_500_000_000
    agent.recordNetlinkMessage(type: "RTM_NEWLINK")
    agent.recordRequest(path: "/metrics", code: 200)
    let hostile = ExpositionTests.series("a\"b\\c\nd\u{1f600}\r\t\u{0}", detail: .full)
    var caused = ExpositionTests.series("caused")
    caused.setCause("link:eth0")
    caused.setDamping(rawChanges: 2, isFlapping: false)
    caused.update(
      TargetState(verdict: Verdict(flags: [], rule: .apple, reason: .carrierLost)), at: ExpositionTests.start)
    let text = try ExpositionTests.text(
      [ExpositionTests.lived(), hostile, caused, ExpositionTests.series("compact", detail: .compact)], agent: agent,
      links: [LinkSample(interface: "eth0", medium: .wired, operState: .up, isUp: true, carrierChanges: 7)],
      process: .current())
    let result = try runProgram([promtool, "check", "metrics"], input: text)
    #expect(result.isSuccess)
    #expect(result.output == "")
  }
}
