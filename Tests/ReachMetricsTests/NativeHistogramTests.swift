import Glibc
import ReachCore
import Testing

@testable import ReachMetrics

@Suite struct NativeHistogramTests {
  /// What a decoder makes of it: how many are in each bucket.
  private struct Decoded {
    let schema: Int
    let zeros: UInt64
    var buckets: [Int: Int64] = [:]
    let count: UInt64
    let spans: Int

    init(_ message: ProtobufMessage) throws {
      schema = Int(message.zigzags(5).first ?? 0)
      zeros = message.integer(7)
      count = message.integer(1)
      var deltas = message.zigzags(13)[...]
      var index = 0
      var value: Int64 = 0
      let spans = try message.messages(12)
      self.spans = spans.count
      for span in spans {
        index += Int(span.zigzags(1).first ?? 0)
        for _ in 0..<span.integer(2) {
          value += deltas.popFirst() ?? 0
          buckets[index] = value
          index += 1
        }
      }
      #expect(deltas.isEmpty)
    }

    /// The upper bound of the bucket that holds that share of all.
    func quantile(_ share: Double) -> Double {
      let count = Int64(zeros) + buckets.values.reduce(0, +)
      var seen = Double(zeros)
      for (index, value) in buckets.sorted(by: { $0.key < $1.key }) {
        seen += Double(value)
        if seen >= share * Double(count) { return pow(2, Double(index) / pow(2, Double(schema))) }
      }
      return 0
    }
  }

  private static func decoded(_ histogram: NativeHistogram) throws -> Decoded {
    try Decoded(ProtobufMessage(ByteWriter.bytes(limit: 8192) { histogram.encode(to: &$0) }))
  }

  @Test("a value lies in the bucket between the bounds of the schema", arguments: [Int8(0), 1, 2, 3])
  func bounds(schema: Int8) {
    let factor = pow(2, 1 / Double(1 << Int(schema)))
    for nanoseconds in [1, 2, 3, 999, 1024, 1_000_000, 7_812_500, 15_625_000, 123_456_789, 1_000_000_000, 1 << 40] {
      let value = Double(nanoseconds) / 1e9
      let index = NativeHistogram.index(of: value, schema: schema)
      #expect(value <= pow(factor, Double(index)) * (1 + 1e-12))
      #expect(value > pow(factor, Double(index - 1)) * (1 - 1e-12))
    }
    // A power of two is the upper bound of its own bucket.
    #expect(NativeHistogram.index(of: 1, schema: schema) == 0)
    #expect(NativeHistogram.index(of: 0.5, schema: schema) == -(1 << Int32(schema)))
    #expect(NativeHistogram.index(of: (1.0).nextUp, schema: schema) == 1)
  }

  @Test("however far durations lie apart there are at most so many buckets, and none is lost")
  func bounded() throws {
    var histogram = NativeHistogram()
    var random: UInt64 = 1
    var zeros = 0
    for step in 0..<20_000 {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let nanoseconds = Int64(bitPattern: random >> (1 + UInt64(step % 64)))
      if nanoseconds == 0 { zeros += 1 }
      histogram.record(nanoseconds)
    }
    let decoded = try Self.decoded(histogram)
    #expect(decoded.schema == 0)
    #expect(decoded.zeros == UInt64(zeros))
    #expect(decoded.buckets.values.reduce(0, +) == Int64(20_000 - zeros))
    let indices = decoded.buckets.keys.sorted()
    #expect(try #require(indices.last) - (try #require(indices.first)) < NativeHistogram.mostBuckets)
  }

  @Test("usual durations keep a fine resolution, and a merged bucket holds what its two held")
  func merged() throws {
    var histogram = NativeHistogram()
    for microseconds in 1000..<2000 { histogram.record(Int64(microseconds) * 1000) }
    #expect(histogram.schema == 3)
    let fine = try Self.decoded(histogram)
    #expect(abs(fine.quantile(0.5) / 0.0015 - 1) < 0.1)
    histogram.record(10_000_000_000)
    #expect(histogram.schema == 2)
    let coarse = try Self.decoded(histogram)
    for (index, count) in coarse.buckets where count > 1 {
      #expect(count == (fine.buckets[2 * index] ?? 0) + (fine.buckets[2 * index - 1] ?? 0))
    }
    // Far apart: two spans, with no empty buckets told between them.
    #expect(coarse.spans == 2)
    #expect(!coarse.buckets.values.contains(0))
  }

  @Test("nothing recorded is an empty native histogram, not none")
  func empty() throws {
    let message = try ProtobufMessage(ByteWriter.bytes { NativeHistogram().encode(to: &$0) })
    #expect((message.double(6) ?? 0) > 0)
    #expect(!message.has(12) && !message.has(13))
  }

  @Test("a histogram becomes native at the first scrape that asks, counts as before, and is exact from then on")
  func begins() throws {
    var series = ExpositionTests.series(probes: [ExpositionTests.probes[3]])
    func record(_ milliseconds: Int) {
      series.record(ProbeRun(probe: "tcp", outcome: .success, duration: .milliseconds(milliseconds)))
    }
    func scrape() throws -> Decoded {
      // As the agent does: the series are the same at the next scrape.
      let bytes = ByteWriter.bytes(limit: 65536) { memory in
        var writer = SeriesWriter(.protobuf, into: memory)
        writer.begin(TargetFamily.probeDuration.family)
        series.write(
          .probeDuration, TargetFamily.probeDuration.family, .shared, at: ExpositionTests.start, to: &writer)
        writer.end()
        memory = writer.out
      }
      let metric = try #require(try ProtobufExposition(bytes).families.first?.metrics.first)
      return try Decoded(try #require(try metric.messages(7).first))
    }
    record(3)
    record(20_000)
    let first = try scrape()
    #expect(first.count == 2)
    #expect(first.buckets.values.reduce(0, +) == 2)
    for _ in 0..<100 { record(7) }
    let second = try scrape()
    #expect(second.count == 102)
    let gained = second.buckets.filter { $0.value > (first.buckets[$0.key] ?? 0) }
    let index = try #require(gained.keys.first)
    #expect(gained.count == 1)
    let bound = pow(2, Double(index) / pow(2, Double(second.schema)))
    #expect(bound >= 0.007 && bound < 0.007 * 1.2)
  }
}
