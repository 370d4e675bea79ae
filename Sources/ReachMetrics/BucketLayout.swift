/// The upper bounds of a histogram's buckets, with the text of each rendered once.
final class BucketLayout: Sendable {
  /// In nanoseconds, ascending.
  let bounds: [Int64]
  /// For each bound, and for `+Inf` behind them: `,le="0.001"} `.
  private let tails: StaticList<StaticBytes>
  /// The same for a family without other labels: `le="0.001"} `.
  private let bareTails: StaticList<StaticBytes>
  /// OpenMetrics writes a bound as a float: `1.0`, not `1`.
  private let floatTails: StaticList<StaticBytes>
  private let bareFloatTails: StaticList<StaticBytes>

  private init(microseconds: [Int64]) {
    bounds = microseconds.map { $0 * 1000 }
    let numbers = bounds.map { bound in ByteWriter.bytes { $0.append(seconds: bound) } }
    let infinite = [Array("+Inf".utf8)]
    let point = UInt8(ascii: ".")
    let floats = numbers.map { $0.contains(point) ? $0 : $0 + [point, UInt8(ascii: "0")] }
    func tails(_ texts: [[UInt8]], _ before: String) -> StaticList<StaticBytes> {
      StaticList(
        (texts + infinite).map { StaticBytes(Array("\(before)le=\"".utf8) + $0 + Array("\"} ".utf8)) })
    }
    self.tails = tails(numbers, ",")
    bareTails = tails(numbers, "")
    floatTails = tails(floats, ",")
    bareFloatTails = tails(floats, "")
  }

  /// For each bucket, what stands between the labels and the number.
  func tails(in format: ExpositionFormat, isBare: Bool) -> StaticList<StaticBytes> {
    format == .openMetrics ? (isBare ? bareFloatTails : floatTails) : (isBare ? bareTails : tails)
  }

  /// Thirteen, from 500 µs to 10 s. The last ones lie where Linux repeats a lost SYN, at 1 s and 3 s (tcp(7),
  /// tcp_syn_retries), so that a connection that needed a second or a third one can be told.
  static let standard = BucketLayout(microseconds: [
    500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 3_000_000, 10_000_000,
  ])

  /// Twenty-two: each twice the one before, from 50 µs to 26.2144 s, and 1 s and 3 s among them.
  static let full = BucketLayout(
    microseconds: ((0..<20).map { 50 << $0 } + [1_000_000, 3_000_000]).sorted())

  /// The index of the bucket that holds a duration; `bounds.count` above them all.
  func index(of nanoseconds: Int64) -> Int {
    var index = 0
    while index < bounds.count, nanoseconds > bounds[index] { index += 1 }
    return index
  }
}
