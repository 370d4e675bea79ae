/// A metric family: a name with its type and its help text, which one exposition shows once. Each is made once.
final class Family: Sendable {
  /// The types of the families that are used here.
  enum Kind: String {
    case gauge
    case counter
    case histogram
    /// Text in labels, and the number 1. A gauge to all but OpenMetrics.
    case info
  }

  let kind: Kind
  /// The name and the opening brace, which begin every series with labels.
  let opening: StaticBytes
  /// The name, which begins the one series without any.
  let name: StaticBytes
  /// Of a histogram.
  let histogram: HistogramNames?
  private let textHeader: StaticBytes
  private let openMetricsHeader: StaticBytes
  private let protobufHeader: StaticBytes

  init(_ name: String, _ kind: Kind, _ help: String) {
    self.kind = kind
    self.name = StaticBytes(name)
    opening = StaticBytes("\(name){")
    histogram = kind == .histogram ? HistogramNames(name) : nil
    let oldType = kind == .info ? Kind.gauge : kind
    // Within a help text a backslash and a line feed are escaped; in OpenMetrics a quotation mark too.
    let escaped = Self.replacing(["\\": "\\\\", "\n": "\\n"], in: help)
    textHeader = StaticBytes("# HELP \(name) \(escaped)\n# TYPE \(name) \(oldType.rawValue)\n")
    // There the family is named without the suffix of its samples.
    let family = Self.familyName(name, kind)
    let unit = kind == .info ? nil : ["seconds", "bytes"].first { family.hasSuffix("_\($0)") }
    openMetricsHeader = StaticBytes(
      "# TYPE \(family) \(kind.rawValue)\n" + (unit.map { "# UNIT \(family) \($0)\n" } ?? "")
        + "# HELP \(family) \(Self.replacing(["\"": "\\\""], in: escaped))\n")
    protobufHeader = StaticBytes(
      ByteWriter.bytes { writer in
        writer.append(field: 1, text: name)
        writer.append(field: 2, text: help)
        writer.append(field: 3, integer: oldType.protobufNumber)
      })
  }

  /// What stands before the series of the family.
  func header(in format: ExpositionFormat) -> StaticBytes {
    switch format {
    case .text: textHeader
    case .openMetrics: openMetricsHeader
    case .protobuf: protobufHeader
    }
  }

  private static func familyName(_ name: String, _ kind: Kind) -> String {
    let suffix =
      switch kind {
      case .counter: "_total"
      case .info: "_info"
      case .gauge, .histogram: ""
      }
    return name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : name
  }

  private static func replacing(_ characters: [Character: String], in text: String) -> String {
    text.reduce(into: "") { $0 += characters[$1] ?? String($1) }
  }
}

extension Family.Kind {
  /// io.prometheus.client.MetricType.
  fileprivate var protobufNumber: UInt64 {
    switch self {
    case .counter: 0
    case .gauge, .info: 1
    case .histogram: 4
    }
  }
}
