/// Writes families and their series in one of the formats, into one piece of an exposition.
///
/// A series is handed over as the text format has it, in parts that are rendered once: the labels of the target, those
/// of the probe, then a tail with what is left of the labels. The text formats copy the parts; protocol buffers are made
/// of the same parts.
struct SeriesWriter {
  let format: ExpositionFormat
  var out: ByteWriter

  /// The kind of the family that is being written.
  private var kind = Family.Kind.gauge
  /// In protocol buffers, where the family's message begins.
  private var message = 0
  /// In text, where the part stands that the series share: in the first of them.
  private var shared = 0..<0
  private var isFirst = false
  /// In protocol buffers, the labels that the series share, encoded.
  private var sharedLabels: [UInt8] = []

  init(_ format: ExpositionFormat, into out: ByteWriter) {
    self.format = format
    self.out = out
  }

  // MARK: Families

  /// Begins a family. One that began in an earlier piece goes on without a header in text; a message of protocol
  /// buffers cannot go on, and so each piece has one of its own, which no reader minds.
  mutating func begin(_ family: Family, isContinued: Bool = false) {
    kind = family.kind
    if format == .protobuf {
      message = out.openMessage()
    } else if isContinued {
      return
    }
    out.append(family.header(in: format))
  }

  /// Ends the family.
  mutating func end() {
    if format == .protobuf { out.closeMessage(message) }
  }

  /// Ends the exposition.
  mutating func finish() {
    if format == .openMetrics { out.append("# EOF\n") }
  }

  // MARK: Series

  /// Begins series that have these labels in common. At least one must follow.
  @inline(__always)
  mutating func share(_ opening: StaticBytes, _ labels: PaddedBytes) {
    if format == .protobuf { return shareLabels(labels, nil) }
    let start = out.count
    out.append(opening)
    out.append(labels)
    shared = start..<max(start, out.count)
    isFirst = true
  }

  @inline(__always)
  mutating func share(_ opening: StaticBytes, _ labels: PaddedBytes, _ more: StaticBytes) {
    if format == .protobuf { return shareLabels(labels, more) }
    let start = out.count
    out.append(opening)
    out.append(labels)
    out.append(more)
    shared = start..<max(start, out.count)
    isFirst = true
  }

  /// Writes one of them, whose number is whole. The tail ends in the blank before the number.
  @inline(__always)
  mutating func series(_ tail: StaticBytes, _ value: Int64) {
    if format == .protobuf { return message(tail, { $0.append(field: 1, double: Double(value)) }) }
    begin(tail)
    out.append(decimal: value)
    out.append(Self.newline)
  }

  /// Writes one of them, in seconds.
  @inline(__always)
  mutating func series(_ tail: StaticBytes, seconds nanoseconds: Int64) {
    if format == .protobuf { return message(tail, { $0.append(field: 1, seconds: nanoseconds) }) }
    begin(tail)
    out.append(seconds: nanoseconds)
    out.append(Self.newline)
  }

  /// Writes one of them, whose tail is not one of the constant ones: it holds labels alone.
  mutating func series(labels: [UInt8], _ value: Int64) {
    if format == .protobuf {
      return message(
        Self.end, { $0.append(field: 1, double: Double(value)) }, labels: { LabelPairs.append(labels, to: &$0) })
    }
    if !isFirst { out.append(again: shared) }
    isFirst = false
    out.append(labels)
    out.append(Self.end)
    out.append(decimal: value)
    out.append(Self.newline)
  }

  @inline(__always)
  private mutating func begin(_ tail: StaticBytes) {
    if !isFirst { out.append(again: shared) }
    isFirst = false
    out.append(tail)
  }

  private static let newline = UInt8(ascii: "\n")
  /// What ends the labels.
  static let end = StaticBytes("} ")

  // MARK: Histograms

  /// Writes all series of a histogram with these labels.
  mutating func series(_ family: Family, _ histogram: Histogram, _ labels: PaddedBytes, _ more: StaticBytes) {
    guard let names = family.histogram else { return }
    if format == .protobuf {
      shareLabels(labels, more)
      let pairs = sharedLabels
      return out.append(field: 4) { metric in
        metric.append(encoded: pairs)
        metric.append(field: 7) { histogram.encode(to: &$0) }
      }
    }
    let hasLabels = labels.count > 0 || more.count > 0
    let tails = histogram.layout.tails(in: format, isBare: !hasLabels)
    var total: UInt64 = 0
    share(names.bucket, labels, more)
    for bucket in 0..<histogram.bucketCount {
      total &+= UInt64(histogram.count(in: bucket))
      begin(tails[bucket])
      out.append(decimal: total)
      if format == .openMetrics, let exemplar = histogram.exemplar(in: bucket) { exemplar.append(to: &out) }
      out.append(Self.newline)
    }
    share(hasLabels ? names.sum : names.bareSum, labels, more)
    series(hasLabels ? Self.end : Self.blank, seconds: histogram.sum)
    share(hasLabels ? names.count : names.bareCount, labels, more)
    series(hasLabels ? Self.end : Self.blank, Int64(clamping: total))
  }

  static let nothing = StaticBytes("")
  /// What ends the name of a series without labels.
  static let blank = StaticBytes(" ")

  // MARK: Protocol buffers

  private mutating func shareLabels(_ labels: PaddedBytes, _ more: StaticBytes?) {
    let limit = 2 * labels.count + 2 * (more?.count ?? 0) + 16
    sharedLabels = ByteWriter.bytes(limit: limit) { writer in
      unsafe labels.withBytes { unsafe LabelPairs.append($0, to: &writer) }
      unsafe more?.withBytes { unsafe LabelPairs.append($0, to: &writer) }
    }
  }

  private mutating func message(
    _ tail: StaticBytes, _ value: (inout ByteWriter) -> Void, labels: (inout ByteWriter) -> Void = { _ in }
  ) {
    let pairs = sharedLabels
    let number: UInt64 = kind == .counter ? 3 : 2
    out.append(field: 4) { metric in
      metric.append(encoded: pairs)
      labels(&metric)
      unsafe tail.withBytes { unsafe LabelPairs.append($0, to: &metric) }
      metric.append(field: number, value)
    }
  }
}
