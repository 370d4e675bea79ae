/// Reads expositions with prometheus_client, as other people's programs do.
public enum PythonParsers {
  private static let program = #"""
    import sys
    from prometheus_client.PARSER import text_string_to_metric_families

    SEPARATOR = "\x1f"
    for family in text_string_to_metric_families(sys.stdin.buffer.read().decode("utf-8")):
        print(SEPARATOR.join(["family", family.name, family.type, family.unit, family.documentation]))
        for sample in family.samples:
            words = ["sample", sample.name, repr(float(sample.value))]
            for name, value in sorted(sample.labels.items()):
                words += [name, value.encode("utf-8").hex()]
            print(SEPARATOR.join(words))
            if sample.exemplar:
                words = ["exemplar", repr(sample.exemplar.value), repr(float(sample.exemplar.timestamp))]
                for name, value in sorted(sample.exemplar.labels.items()):
                    words += [name, value.encode("utf-8").hex()]
                print(SEPARATOR.join(words))
    """#

  /// A text that the parser does not accept.
  public struct Refusal: Error, CustomStringConvertible {
    /// What Python says.
    public let description: String
  }

  /// What a parser finds.
  public struct Result: Sendable {
    /// By name: the type and the unit.
    public fileprivate(set) var families: [String: (type: String, unit: String)] = [:]
    /// The series, in their order.
    public fileprivate(set) var samples: [ExpositionSample] = []
    /// The exemplars; the name is the time.
    public fileprivate(set) var exemplars: [ExpositionSample] = []
  }

  /// Parses with the classic parser or that of OpenMetrics. Throws with what Python says when it refuses the text.
  public static func parse(_ text: String, openMetrics: Bool) throws -> Result {
    let parser = openMetrics ? "openmetrics.parser" : "parser"
    let program = program.split(separator: "PARSER").joined(separator: parser)
    let ended = try PythonPackages.run(program, input: text)
    guard ended.isSuccess else { throw Refusal(description: ended.output) }
    var result = Result()
    for line in ended.output.split(separator: "\n") {
      let words = line.split(separator: "\u{1f}", omittingEmptySubsequences: false).map(String.init)
      switch words.first {
      case "family" where words.count == 5: result.families[words[1]] = (words[2], words[3])
      case "sample": result.samples.append(sample(words[1], words[2], words[3...]))
      case "exemplar": result.exemplars.append(sample(words[2], words[1], words[3...]))
      default: throw Refusal(description: String(line))
      }
    }
    return result
  }

  private static func sample(_ name: String, _ value: String, _ labels: ArraySlice<String>) -> ExpositionSample {
    var labels = labels
    var read: [String: String] = [:]
    while let name = labels.popFirst(), let value = labels.popFirst() {
      var digits = value[...]
      var bytes: [UInt8] = []
      while !digits.isEmpty {
        bytes.append(UInt8(digits.prefix(2), radix: 16) ?? 0)
        digits = digits.dropFirst(2)
      }
      read[name] = String(decoding: bytes, as: UTF8.self)
    }
    // A bound is the same number however it is written.
    if let bound = read["le"], let number = Double(bound) { read["le"] = number == .infinity ? "+Inf" : "\(number)" }
    return ExpositionSample(name: name, labels: read, value: Double(value) ?? .nan)
  }
}

/// A series as every format tells of it.
public struct ExpositionSample: Hashable, Sendable, CustomStringConvertible {
  /// The name, with the suffix that a histogram's series have.
  public let name: String
  /// The labels; of a bucket, the bound as Swift writes the number.
  public let labels: [String: String]
  /// The number.
  public let value: Double

  /// A series.
  public init(name: String, labels: [String: String], value: Double) {
    self.name = name
    self.labels = labels
    self.value = value
  }

  /// For a test's message.
  public var description: String { "\(name)\(labels.sorted { $0.key < $1.key }) \(value)" }
}
