import ReachCore
import ReachTestSupport
import Testing

@testable import ReachMetrics

@Suite struct OpenMetricsTests {
  private static func text(_ targets: [TargetSeries]) throws -> String {
    try ExpositionTests.text(targets, format: .openMetrics)
  }

  @Test("counters are named without _total, infos without _info, units are told, and the end is")
  func headers() throws {
    let text = try Self.text([ExpositionTests.lived()])
    for header in [
      "# TYPE reachability_status gauge", "# TYPE reachability_transitions counter",
      "# TYPE reachability_reason info", "# TYPE reachability_path info",
      "# TYPE reachability_status_seconds counter\n# UNIT reachability_status_seconds seconds\n",
      "# TYPE reachability_probe_duration_seconds histogram\n# UNIT reachability_probe_duration_seconds seconds\n",
      "# TYPE reachability_status_timestamp_seconds gauge\n# UNIT reachability_status_timestamp_seconds seconds\n",
      "# TYPE reachd_build info", "# TYPE reachd_targets gauge\n# HELP",
    ] {
      #expect(text.contains(header), "\(header)")
    }
    #expect(text.hasSuffix("\n# EOF\n"))
    #expect(!text.contains("_total counter") && !text.contains("_info info"))
  }

  @Test("every series has the name, labels and number that it has in the text format, but for the form of bounds")
  func sameSeries() throws {
    func lines(_ format: ExpositionFormat) throws -> [String] {
      String(decoding: try ExpositionTests.everything(format), as: UTF8.self).split(separator: "\n")
        .map(String.init).filter { !$0.hasPrefix("#") }
    }
    let old = try lines(.text).map { line in
      ["1", "3", "10"].reduce(line) { $0.replacing("le=\"\($1)\"}", with: "le=\"\($1).0\"}") }
    }
    #expect(old == (try lines(.openMetrics)))
  }

  @Test("a help text is escaped as each format wants")
  func help() {
    let family = Family("x_total", .counter, "a \"b\" \\ c\nd")
    func header(_ format: ExpositionFormat) -> String {
      unsafe family.header(in: format).withBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }
    #expect(header(.text) == "# HELP x_total a \"b\" \\\\ c\\nd\n# TYPE x_total counter\n")
    #expect(header(.openMetrics) == "# TYPE x counter\n# HELP x a \\\"b\\\" \\\\ c\\nd\n")
  }

  @Test("pieces of whatever size make the same text, each format by itself", arguments: ExpositionFormat.allCases)
  func largeLabels(format: ExpositionFormat) throws {
    // One target whose every family is larger than a piece.
    let labels = (0..<16).map { Label(name: "l\($0 + 10)", value: String(repeating: "\"", count: 2048)) }
    let large = ExpositionTests.series("large", labels: labels)
    let bytes = try ExpositionTests.bytes(
      [ExpositionTests.series("a"), large, ExpositionTests.series("b")], format: format)
    #expect(bytes.count > 1_000_000)
    if format == .protobuf {
      let samples = try ProtobufExposition(bytes).samples()
      #expect(samples.count { $0.labels["l25"]?.utf8.count == 2048 } == samples.count { $0.labels["target"] == "a" })
    } else {
      let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
      #expect(lines.count { $0.contains("target=\"large\"") } == lines.count { $0.contains("target=\"a\"") })
      #expect(lines.count { $0.hasPrefix("# TYPE") } == Set(lines.filter { $0.hasPrefix("# TYPE") }).count)
    }
  }

  @Test(
    "prometheus_client reads both formats, and finds the same series in them",
    .enabled(if: PythonPackages.areAvailable, "\(PythonPackages.requirement)"))
  func parsed() throws {
    let old = try PythonParsers.parse(
      String(decoding: try ExpositionTests.everything(.text), as: UTF8.self), openMetrics: false)
    let new = try PythonParsers.parse(
      String(decoding: try ExpositionTests.everything(.openMetrics), as: UTF8.self), openMetrics: true)
    #expect(Set(old.samples) == Set(new.samples))
    #expect(old.samples.count == new.samples.count)
    #expect(new.families["reachability_path"]?.type == "info")
    #expect(new.families["process_resident_memory_bytes"]?.unit == "bytes")
    let hostile = "a\"b\\c\nd\u{1f600}\r\t\u{0}é"
    #expect(new.samples.contains { $0.labels["target"] == hostile && $0.labels["x"] == "}, \"" })
  }
}
