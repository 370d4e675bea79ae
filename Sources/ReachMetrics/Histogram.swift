internal import ReachCore

/// Durations counted in buckets: four bytes a bucket, and the sum in nanoseconds.
///
/// Beside the buckets with fixed bounds there is a native histogram, once somebody has asked for one.
public struct Histogram: Sendable {
  /// For each bucket by itself, not yet summed up; the last is for what is above every bound.
  private var counts: [UInt32]
  private var total: UInt64 = 0
  private let isFine: Bool
  private var exemplars: [(bucket: UInt8, exemplar: Exemplar)] = []
  private var native: NativeHistogram?

  var layout: BucketLayout { isFine ? .full : .standard }

  /// An empty histogram with the buckets of the `standard` detail, or the finer ones of `full`.
  public init(isFine: Bool = false) {
    self.isFine = isFine
    counts = Array(repeating: 0, count: (isFine ? BucketLayout.full : .standard).bounds.count + 1)
  }

  /// Counts one duration; a negative one as none.
  public mutating func record(_ duration: Duration) { record(duration, of: nil) }

  /// Counts one duration, and keeps what it was measured at as an example. The newest one is kept: of all buckets, or of
  /// each where the buckets are the finer ones.
  mutating func record(_ duration: Duration, of subject: Exemplar.Subject?) {
    let nanoseconds = max(0, duration.nanoseconds)
    let bucket = layout.index(of: nanoseconds)
    counts[bucket] &+= 1
    total = total &+ UInt64(nanoseconds)
    native?.record(nanoseconds)
    if let subject {
      keep(
        Exemplar(nanoseconds: nanoseconds, subject: subject), in: UInt8(truncatingIfNeeded: bucket))
    }
  }

  private mutating func keep(_ exemplar: Exemplar, in bucket: UInt8) {
    if let place = exemplars.firstIndex(where: { !isFine || $0.bucket == bucket }) {
      exemplars[place] = (bucket, exemplar)
    } else {
      if exemplars.isEmpty { exemplars.reserveCapacity(1) }
      exemplars.append((bucket, exemplar))
    }
  }

  /// How many have been counted.
  public var count: UInt64 { counts.reduce(0) { $0 + UInt64($1) } }

  /// The sum of all durations, in nanoseconds.
  var sum: Int64 { Int64(clamping: total) }

  /// With the one for what is above every bound.
  var bucketCount: Int { counts.count }

  func count(in bucket: Int) -> UInt32 { counts[bucket] }

  func exemplar(in bucket: Int) -> Exemplar? {
    exemplars.first { Int($0.bucket) == bucket }?.exemplar
  }

  /// Writes its series with these labels. For protocol buffers it keeps a native histogram from now on.
  mutating func write(
    _ family: Family, _ labels: PaddedBytes, _ more: StaticBytes, to writer: inout SeriesWriter
  ) {
    if writer.format == .protobuf { keepNative() }
    writer.series(family, self, labels, more)
  }

  // MARK: Protocol buffers

  /// Keeps a native histogram from now on. What was counted before goes to where the upper bounds of its buckets are, so
  /// that both count the same, and what is counted from now on to where it belongs: a rate does not see the difference.
  mutating func keepNative() {
    guard native == nil else { return }
    var native = NativeHistogram()
    for (bucket, count) in counts.enumerated() where count > 0 {
      let bounds = layout.bounds
      native.record(bounds[min(bucket, bounds.count - 1)], times: count)
    }
    self.native = native
  }

  /// Appends the fields of io.prometheus.client.Histogram. Of the exemplars it has the newest: those of a native histogram
  /// are one series, to which nothing older can be added.
  func encode(to message: inout ByteWriter) {
    message.append(field: 1, integer: count)
    message.append(field: 2, seconds: sum)
    let newest = exemplars.max { $0.exemplar.subject.at < $1.exemplar.subject.at }
    var cumulative: UInt64 = 0
    for bucket in 0..<counts.count {
      cumulative += UInt64(counts[bucket])
      message.append(field: 3) { field in
        field.append(field: 1, integer: cumulative)
        let bounds = layout.bounds
        field.append(
          field: 2, double: bucket < bounds.count ? Double(bounds[bucket]) / 1e9 : .infinity)
        guard let newest, Int(newest.bucket) == bucket else { return }
        field.append(field: 3) { newest.exemplar.encode(to: &$0) }
      }
    }
    native?.encode(to: &message)
  }
}

/// The names of a histogram's series, each with its opening brace; of those without labels, without.
struct HistogramNames: Sendable {
  let bucket: StaticBytes
  let sum: StaticBytes
  let count: StaticBytes
  let bareSum: StaticBytes
  let bareCount: StaticBytes

  init(_ name: String) {
    bucket = StaticBytes("\(name)_bucket{")
    sum = StaticBytes("\(name)_sum{")
    count = StaticBytes("\(name)_count{")
    bareSum = StaticBytes("\(name)_sum")
    bareCount = StaticBytes("\(name)_count")
  }
}
