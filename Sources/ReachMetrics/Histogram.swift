internal import ReachCore

/// Durations counted in buckets: four bytes a bucket, and the sum in nanoseconds.
public struct Histogram: Sendable {
  /// For each bucket by itself, not yet summed up; the last is for what is above every bound.
  private var counts: [UInt32]
  private var sum: UInt64 = 0
  private let isFine: Bool

  var layout: BucketLayout { isFine ? .full : .standard }

  /// An empty histogram with the buckets of the `standard` detail, or the finer ones of `full`.
  public init(isFine: Bool = false) {
    self.isFine = isFine
    counts = Array(repeating: 0, count: (isFine ? BucketLayout.full : .standard).bounds.count + 1)
  }

  /// Counts one duration; a negative one as none.
  public mutating func record(_ duration: Duration) {
    let nanoseconds = max(0, duration.nanoseconds)
    counts[layout.index(of: nanoseconds)] &+= 1
    sum = sum &+ UInt64(nanoseconds)
  }

  /// How many have been counted.
  public var count: UInt64 { counts.reduce(0) { $0 + UInt64($1) } }

  /// Appends all series of one label set: `labels` holds what stands before `le`, without braces, or nothing.
  func render(_ name: String, labels: [UInt8], into bytes: inout [UInt8]) {
    render(HistogramNames(name), labels: labels, and: [], into: &bytes)
  }

  /// The same with the label set in two parts, which follow each other.
  func render(_ names: HistogramNames, labels: [UInt8], and more: [UInt8], into bytes: inout [UInt8]) {
    let layout = layout
    let tails = labels.isEmpty && more.isEmpty ? layout.bareTails : layout.tails
    var total: UInt64 = 0
    for (index, count) in counts.enumerated() {
      total += UInt64(count)
      bytes.append(contentsOf: names.bucket)
      bytes.append(contentsOf: labels)
      bytes.append(contentsOf: more)
      bytes.append(contentsOf: tails[index])
      bytes.append(decimal: total)
      bytes.append(UInt8(ascii: "\n"))
    }
    for (isSum, opening) in [(true, names.sum), (false, names.count)] {
      if labels.isEmpty && more.isEmpty {
        bytes.append(contentsOf: opening.dropLast())
        bytes.append(UInt8(ascii: " "))
      } else {
        bytes.append(contentsOf: opening)
        bytes.append(contentsOf: labels)
        bytes.append(contentsOf: more)
        bytes.append(UInt8(ascii: "}"))
        bytes.append(UInt8(ascii: " "))
      }
      if isSum { bytes.append(seconds: Int64(clamping: sum)) } else { bytes.append(decimal: total) }
      bytes.append(UInt8(ascii: "\n"))
    }
  }
}

/// The names of a histogram's series, each with its opening brace.
struct HistogramNames: Sendable {
  let bucket: [UInt8]
  let sum: [UInt8]
  let count: [UInt8]

  init(_ name: String) {
    bucket = Array("\(name)_bucket{".utf8)
    sum = Array("\(name)_sum{".utf8)
    count = Array("\(name)_count{".utf8)
  }
}
