/// Durations counted in buckets whose bounds grow by a constant factor, Prometheus' native histogram.
///
/// At schema s each bucket reaches to 2^(2^-s) times the bucket below: 1.09 times at schema 3, with which it begins. It
/// has at most `mostBuckets` from the lowest to the highest that is in use; where more would be needed, each two become
/// one, which halves the resolution. So it takes at most 256 bytes, whatever happens.
struct NativeHistogram: Sendable {
  static let mostBuckets = 64
  private static let finest: Int8 = 3
  /// A bucket an octave: with these, whatever 64 bits of nanoseconds can say has room.
  private static let coarsest: Int8 = 0

  private(set) var schema = Self.finest
  /// The index of the first bucket.
  private var first: Int32 = 0
  /// From the first bucket that is in use to the last.
  private var counts: [UInt32] = []
  /// Durations of nothing.
  private var zeros: UInt64 = 0

  /// Counts a duration, so many times.
  mutating func record(_ nanoseconds: Int64, times: UInt32 = 1) {
    guard nanoseconds > 0 else {
      zeros &+= UInt64(times)
      return
    }
    var index = Self.index(of: Double(nanoseconds) / 1e9, schema: schema)
    while !counts.isEmpty, schema > Self.coarsest {
      let lowest = min(index, first)
      let highest = max(index, first &+ Int32(counts.count) &- 1)
      if highest &- lowest < Int32(Self.mostBuckets) { break }
      halve()
      index = Self.index(of: Double(nanoseconds) / 1e9, schema: schema)
    }
    makeRoom(for: index)
    counts[Int(index &- first)] &+= times
  }

  private mutating func makeRoom(for index: Int32) {
    if counts.isEmpty {
      first = index
      counts = [0]
    } else if index < first {
      counts.insert(contentsOf: repeatElement(0, count: Int(first &- index)), at: 0)
      first = index
    } else {
      let missing = Int(index &- first) + 1 - counts.count
      if missing > 0 { counts.append(contentsOf: repeatElement(0, count: missing)) }
    }
  }

  /// Makes one bucket of each two. The bucket i of the finer schema belongs to the bucket i/2, rounded up, of the coarser.
  private mutating func halve() {
    let (old, oldFirst) = (counts, first)
    counts = []
    schema -= 1
    for (offset, count) in old.enumerated() where count > 0 {
      let index = (oldFirst &+ Int32(offset) &+ 1) >> 1
      makeRoom(for: index)
      counts[Int(index &- first)] &+= count
    }
  }

  /// The bucket whose upper bound is the lowest that is not below the value.
  static func index(of value: Double, schema: Int8) -> Int32 {
    // value = fraction x 2^exponent with 1 < fraction <= 2: a power of two is the upper end of its octave.
    var fraction = value.significand
    var exponent = Int32(truncatingIfNeeded: value.exponent)
    if fraction == 1 {
      fraction = 2
      exponent -= 1
    }
    var within: Int32 = 0
    let step = 8 >> Int(schema)
    while within < Int32(1 << Int(schema)) - 1, fraction > eighths[(Int(within) + 1) * step] { within += 1 }
    return (exponent << Int32(schema)) + within + 1
  }

  /// 2^(k/8) for k from 0 to 8.
  private static let eighths: [Double] = {
    let root = (2.0).squareRoot().squareRoot().squareRoot()
    return (0...8).map { power in (0..<power).reduce(1.0) { value, _ in value * root } }
  }()

  // MARK: Protocol buffers

  /// Appends those fields of io.prometheus.client.Histogram that make it a native one.
  func encode(to message: inout ByteWriter) {
    message.append(field: 5, zigzag: Int64(schema))
    // The width of the bucket for nothing; that there is one is what tells an empty native histogram.
    message.append(field: 6, double: 0x1p-128)
    message.append(field: 7, integer: zeros)
    for span in spans {
      message.append(field: 12) { field in
        field.append(field: 1, zigzag: Int64(span.offset))
        field.append(field: 2, integer: UInt64(span.counts.count))
      }
    }
    var before: Int64 = 0
    for count in spans.flatMap(\.counts) {
      message.append(field: 13, zigzag: Int64(count) - before)
      before = Int64(count)
    }
  }

  /// Buckets that follow one another; `offset` is how many are left out before them, for the first the index of its first
  /// bucket.
  private struct Span {
    let offset: Int32
    let counts: ArraySlice<UInt32>
  }

  /// The buckets in use, without the gaps of more than two: up to there an empty bucket costs less than a span.
  private var spans: [Span] {
    var spans: [Span] = []
    var start = 0
    var end = 0
    var offset = first
    for (index, count) in counts.enumerated() where count > 0 {
      if index - end > 2 {
        spans.append(Span(offset: offset, counts: counts[start..<end]))
        offset = Int32(index - end)
        start = index
      }
      end = index + 1
    }
    if end > start { spans.append(Span(offset: offset, counts: counts[start..<end])) }
    return spans
  }
}
