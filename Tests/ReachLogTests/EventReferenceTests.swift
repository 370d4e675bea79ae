import ReachCore
import ReachLog
import ReachTestSupport
import Testing

/// What `docs/log-events.md` says of each event, and the events beside it.
@Suite struct EventReferenceTests {
  private static let verdict = Verdict(
    flags: [], rule: .afnetworking, reason: .carrierLost, path: LogFormatTests.path)

  /// One of each, with every field that it may have.
  private static var events: [LogEvent] {
    let target = LogFormatTests.target
    var change = LogFormatTests.loss
    change.causeID = "a-1"
    let run = ProbeRun(
      probe: "dns", outcome: .failure(.dnsTimeout), duration: .seconds(2), detail: .dnsStale)
    return [
      .statusInitial(target: target, change: change), .statusChanged(target: target, change: change),
      .reasonChanged(target: target, from: .tcpTimeout, to: verdict),
      .flagsChanged(target: target, from: [.reachable], to: verdict),
      .pathChanged(target: target, from: LogFormatTests.path, to: ReachabilityPath()),
      .probeFinished(target: target, run: run),
      .cause(id: "a-1", cause: "link:eth0", targets: ["db"], reason: .carrierLost),
      .causeCleared(id: "a-1", cause: "link:eth0", targets: ["db"], lasted: .seconds(1)),
      .agentStarted(version: "0.1.0", config: "f", targets: 1),
      .agentStopping(version: "0.1.0", config: "f", targets: 1),
      .configLoaded(file: "f"), .configRejected(file: "f", problems: ["p"]),
      .pluginLoaded(plugin: "tcp", file: "f", version: "0.1.0"),
      .pluginRejected(plugin: "tcp", file: "f", reason: "r"),
      .netlinkOverrun(resync: .milliseconds(1)), .selfCheck(check: "c", problem: "p", remedy: "r"),
      .targetsDiscovered(source: "s", targets: 1),
      .discoveryIgnored(source: "s", file: "f", entry: 1, problem: "p"),
      .discoveryFailed(source: "s", file: "f", problem: "p", kept: 1),
    ]
  }

  @Test("the reference has a section for every event of the code, and no other")
  func sections() throws {
    // An event is made where its identifier is the first text behind `LogEvent(`.
    let made = try Repository.sources(in: "Sources/ReachLog").matches(of: /LogEvent\([^"]*"([a-z_]+)"/)
      .map { String($0.output.1) }
    #expect(Set(Self.events.map(\.id)) == Set(made), "an event of the code is missing in this test")
    #expect(try Self.sections().keys.sorted() == Set(made).sorted())
    let elsewhere = try Repository.sources(in: "Sources/ReachAgent") + Repository.sources(in: "Sources/reachd")
    #expect(!elsewhere.contains("LogEvent("), "events are made in ReachLog, where this test finds them")
  }

  @Test("the reference names the level of each event and all its fields, in order")
  func fields() throws {
    let sections = try Self.sections()
    for event in Self.events {
      let section = try #require(sections[event.id], "\(event.id)")
      let paragraphs = section.split(separator: "\n\n")
      let level = try #require(paragraphs.first { $0.hasPrefix("Level: ") }, "\(event.id)")
      #expect(level.contains(event.level.rawValue), "\(event.id)")
      let fields = try #require(paragraphs.first { $0.hasPrefix("Fields: ") }, "\(event.id)")
      #expect(fields.matches(of: /`([a-z_]+)`/).map { String($0.output.1) } == event.fields.map(\.name), "\(event.id)")
    }
  }

  /// The text of each section by the event that heads it.
  private static func sections() throws -> [String: String] {
    var sections: [String: String] = [:]
    for section in try Repository.text("docs/log-events.md").split(separator: "\n### `").dropFirst() {
      let parts = section.split(separator: "`\n", maxSplits: 1)
      guard parts.count == 2 else { continue }
      sections[String(parts[0])] = "\n" + parts[1]
    }
    return sections
  }
}
