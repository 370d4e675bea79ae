import ReachCore
import ReachTestSupport
import Testing

@testable import ReachMetrics

@Suite struct ProtobufTests {
  @Test("the decoded families are those of the text format: names, help texts, types, series, in their order")
  func sameSeries() throws {
    let families = try ProtobufExposition(try ExpositionTests.everything(.protobuf)).families
    let text = String(decoding: try ExpositionTests.everything(.text), as: UTF8.self)
    let types: [UInt64: String] = [0: "counter", 1: "gauge", 4: "histogram"]
    let headers = families.map { "# HELP \($0.name) \($0.help)\n# TYPE \($0.name) \(types[$0.type] ?? "?")" }
    let lines = text.split(separator: "\n").filter { $0.hasPrefix("#") }
    #expect(headers.joined(separator: "\n") == lines.joined(separator: "\n"))
    #expect(try families.count == ProtobufExposition(try ExpositionTests.everything(.protobuf)).families.count)
  }

  @Test(
    "the decoded series are those that prometheus_client reads in the text format",
    .enabled(if: PythonPackages.areAvailable, "\(PythonPackages.requirement)"))
  func sameAsParsed() throws {
    let decoded = try ProtobufExposition(try ExpositionTests.everything(.protobuf)).samples()
    let parsed = try PythonParsers.parse(
      String(decoding: try ExpositionTests.everything(.text), as: UTF8.self), openMetrics: false)
    #expect(Set(decoded) == Set(parsed.samples))
    #expect(decoded.count == parsed.samples.count)
  }

  @Test("a family larger than a piece comes as several messages, and no series is lost")
  func pieces() throws {
    let targets = (0..<700).map { ExpositionTests.series("target-\($0)") }
    let exposition = try ProtobufExposition(try ExpositionTests.bytes(targets, format: .protobuf))
    let names = exposition.families.map(\.name)
    #expect(names.count { $0 == "reachability_probe_duration_seconds" } > 2)
    let statuses = try exposition.samples().filter { $0.name == "reachability_status" }
    #expect(statuses.count == 4 * 700)
    #expect(Set(statuses).count == 4 * 700)
  }

  @Test("varints and lengths of every size", arguments: [0, 1, 127, 128, 16_383, 16_384, 300_000])
  func lengths(count: Int) throws {
    let bytes = ByteWriter.bytes(limit: count + 64) { writer in
      writer.append(field: 1) { outer in
        outer.append(field: 2) { inner in
          for _ in 0..<count { inner.append(7) }
        }
        outer.append(field: 3, zigzag: -Int64(count))
      }
    }
    let outer = try #require(try ProtobufMessage(bytes).messages(1).first)
    #expect(outer.text(2).utf8.count == count)
    #expect(outer.zigzags(3) == [-Int64(count)])
  }
}
