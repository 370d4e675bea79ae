import ReachCore
import ReachLog
import Testing

@Suite struct LogFormatTests {
  static let time: Int64 = 1_767_323_045_678_901_234
  static let target = Target(
    name: "db", kind: .host(HostName(query: "db.internal", display: "db.internal")), port: 5432,
    labels: [Label(name: "site", value: "fra1"), Label(name: "team", value: "storage")])
  static let path = ReachabilityPath(
    interface: "eth0", interfaceIndex: 2, medium: .wired, gateway: IPAddress(ipv4: 0xc000_0201),
    source: IPAddress(ipv4: 0xc633_6407), address: IPAddress(ipv4: 0xc633_6435))
  static let loss = StatusChange(
    sequence: 7, at: time, from: .reachableViaWiFi,
    to: Verdict(flags: [], rule: .afnetworking, reason: .carrierLost, path: path), inPrevious: .milliseconds(182_500))

  static func line(_ event: LogEvent, _ format: LogFormat) -> String {
    String(decoding: format.encode(LogRecord(time: time, event: event)), as: UTF8.self)
  }

  @Test("a change of status as JSON: time, level, event and message first, then the fields of the reference")
  func json() {
    let expected = #"""
      {"time":"2026-01-02T03:04:05.678901Z","level":"warning","event":"status_changed",\#
      "message":"db is NotReachable by eth0: the interface has no carrier, was ReachableViaWiFi for 3m2s",\#
      "target":"db","from":"ReachableViaWiFi","to":"NotReachable","flags":"-- -------","flags_value":0,\#
      "layer":"link","reason":"carrier_lost","interface":"eth0","medium":"wired","address":"198.51.100.53",\#
      "sequence":7,"in_previous_seconds":182.5,"labels":{"site":"fra1","team":"storage"}}

      """#
    #expect(Self.line(.statusChanged(target: Self.target, change: Self.loss), .json) == expected)
  }

  @Test("the same as logfmt")
  func logfmt() {
    let expected = #"""
      time=2026-01-02T03:04:05.678901Z level=warning event=status_changed \#
      message="db is NotReachable by eth0: the interface has no carrier, was ReachableViaWiFi for 3m2s" \#
      target=db from=ReachableViaWiFi to=NotReachable flags="-- -------" flags_value=0 layer=link \#
      reason=carrier_lost interface=eth0 medium=wired address=198.51.100.53 sequence=7 in_previous_seconds=182.5 \#
      labels.site=fra1 labels.team=storage

      """#
    #expect(Self.line(.statusChanged(target: Self.target, change: Self.loss), .logfmt) == expected)
  }

  @Test("the same for people, with and without colours")
  func text() {
    let event = LogEvent.statusChanged(target: Self.target, change: Self.loss)
    let expected = #"""
      2026-01-02 03:04:05Z warning db is NotReachable by eth0: the interface has no carrier, was ReachableViaWiFi \#
      for 3m2s flags="-- -------" layer=link interface=eth0 medium=wired address=198.51.100.53 labels.site=fra1 \#
      labels.team=storage

      """#
    #expect(Self.line(event, .text(colour: false)) == expected)
    let coloured = Self.line(event, .text(colour: true))
    #expect(coloured.contains("\u{1b}[31mdb is NotReachable"))
    #expect(coloured.contains("\u{1b}[33mwarning\u{1b}[0m"))
  }

  @Test("the first status has no `from`; flags that are absent are null")
  func initial() {
    let change = StatusChange(
      sequence: 1, at: Self.time, from: nil, to: Verdict(flags: nil, rule: .afnetworking, reason: .dnsPending),
      inPrevious: nil)
    let expected = #"""
      {"time":"2026-01-02T03:04:05.678901Z","level":"info","event":"status_initial",\#
      "message":"db is Unknown: the name is being resolved","target":"db","to":"Unknown","flags":null,\#
      "flags_value":null,"layer":"local","reason":"dns_pending","interface":"","medium":"","address":"",\#
      "sequence":1,"in_previous_seconds":null,"labels":{"site":"fra1","team":"storage"}}

      """#
    #expect(Self.line(.statusInitial(target: Self.target, change: change), .json) == expected)
  }

  @Test("only the way into NotReachable is a warning")
  func levels() {
    func level(_ from: Status, _ flags: ReachabilityFlags?) -> LogLevel {
      let verdict = Verdict(flags: flags, rule: .afnetworking, reason: .routeOK)
      let change = StatusChange(sequence: 2, at: 0, from: from, to: verdict, inPrevious: .zero)
      return LogEvent.statusChanged(target: Self.target, change: change).level
    }
    #expect(level(.reachableViaWiFi, []) == .warning)
    #expect(level(.unknown, []) == .warning)
    #expect(level(.notReachable, .reachable) == .info)
    #expect(level(.reachableViaWiFi, nil) == .info)
  }

  @Test("whatever a name holds, each form stays one line that cannot move a terminal's cursor")
  func hostile() {
    let name = "a\"b\\c\nd\re\tf\u{1b}[2Jg\u{0}h\u{9b}i\u{202e}j"
    let event = LogEvent(.info, "x", "m", fields: [LogEvent.Field("k", .string(name))])
    #expect(
      Self.line(event, .json).hasSuffix(
        #""k":"a\"b\\c\nd\re\tf\u001b[2Jg\u0000h"# + "\u{9b}i\u{202e}j\"}\n"))
    #expect(Self.line(event, .logfmt).hasSuffix(#" k="a\"b\\c\nd\re\tf\u001b[2Jg\u0000h\u009bi\u202ej""# + "\n"))
    let message = LogEvent(.info, "x", name)
    #expect(
      Self.line(message, .text(colour: false)).hasSuffix(#" a"b\c\nd\re\tf\u001b[2Jg\u0000h\u009bi\u202ej"# + "\n"))
  }

  @Test("bytes that are no UTF-8 are repaired, so that every line is valid")
  func repaired() {
    let name = String(decoding: [0x61, 0xff, 0xc3, 0x62] as [UInt8], as: UTF8.self)
    let event = LogEvent(.info, "x", name)
    #expect(Self.line(event, .json).contains("\"message\":\"a\u{fffd}\u{fffd}b\""))
  }

  @Test("each type of field in each form")
  func types() {
    let event = LogEvent(
      .debug, "x", "m",
      fields: [
        LogEvent.Field("i", .integer(-5)), LogEvent.Field("d", .double(0.25)), LogEvent.Field("n", .double(.nan)),
        LogEvent.Field("t", .duration(.microseconds(1500))), LogEvent.Field("b", .boolean(true)),
        LogEvent.Field("s", .strings(["a", "b c"])), LogEvent.Field("z", .null),
      ])
    #expect(
      Self.line(event, .json).hasSuffix(
        #""i":-5,"d":0.25,"n":null,"t":0.0015,"b":true,"s":["a","b c"],"z":null}"# + "\n"))
    #expect(Self.line(event, .logfmt).hasSuffix("i=-5 d=0.25 n=nan t=0.0015 b=true s=\"a,b c\" z=null\n"))
  }

  @Test("the agent's events carry the fields of the reference")
  func agentEvents() {
    func names(_ event: LogEvent) -> [String] { event.fields.map(\.name) }
    #expect(names(.agentStarted(version: "1", config: "f", targets: 2)) == ["version", "config", "targets"])
    #expect(names(.configRejected(file: "f", problems: ["p"])) == ["file", "problems"])
    #expect(
      names(.pluginRejected(plugin: "tcp", file: "f", reason: "r")) == ["plugin", "file", "version", "reason"])
    #expect(
      names(.probeFinished(target: Self.target, run: ProbeRun(probe: "tcp", outcome: .success)))
        == ["target", "probe", "outcome", "reason", "duration_seconds"])
    #expect(names(.netlinkOverrun(resync: .seconds(1))) == ["resync_seconds"])
    #expect(names(.selfCheck(check: "c", problem: "p", remedy: "r")) == ["check", "problem", "remedy"])
    #expect(
      names(.pathChanged(target: Self.target, from: ReachabilityPath(), to: Self.path))
        == ["target", "from_interface", "to_interface", "from_medium", "to_medium"])
    let cause = LogEvent.cause(
      id: "7", cause: "link:eth0", targets: (0..<30).map { "t\($0)" }, reason: .carrierLost)
    guard case .strings(let named) = cause["targets"] else { return #expect(Bool(false)) }
    #expect(named.count == 20 && cause["targets_count"] == .integer(30))
  }
}
