import ReachTestSupport

/// Reads protocol buffers as Prometheus' client_model has them, with nothing of the encoder's in it.
struct ProtobufReader {
  enum Value: Equatable {
    case integer(UInt64)
    case double(Double)
    case bytes([UInt8])
  }

  struct Malformed: Error {}

  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: some Sequence<UInt8>) { rest = Array(bytes)[...] }

  mutating func varint() throws -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 70, by: 7) {
      guard let byte = rest.popFirst() else { throw Malformed() }
      value |= UInt64(byte & 0x7f) << shift
      if byte & 0x80 == 0 { return value }
    }
    throw Malformed()
  }

  mutating func bytes() throws -> [UInt8] {
    let count = try varint()
    guard count <= UInt64(rest.count) else { throw Malformed() }
    defer { rest = rest.dropFirst(Int(count)) }
    return Array(rest.prefix(Int(count)))
  }

  /// All fields that are left, in their order.
  mutating func fields() throws -> [(number: UInt64, value: Value)] {
    var fields: [(UInt64, Value)] = []
    while !rest.isEmpty {
      let key = try varint()
      switch key & 7 {
      case 0: fields.append((key >> 3, .integer(try varint())))
      case 1:
        guard rest.count >= 8 else { throw Malformed() }
        let bits = rest.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        rest = rest.dropFirst(8)
        fields.append((key >> 3, .double(Double(bitPattern: bits))))
      case 2: fields.append((key >> 3, .bytes(try bytes())))
      default: throw Malformed()
      }
    }
    return fields
  }
}

/// A message: its fields by their numbers.
struct ProtobufMessage {
  private let fields: [(number: UInt64, value: ProtobufReader.Value)]

  init(_ bytes: some Sequence<UInt8>) throws {
    var reader = ProtobufReader(bytes)
    fields = try reader.fields()
  }

  func has(_ number: UInt64) -> Bool { fields.contains { $0.number == number } }

  func messages(_ number: UInt64) throws -> [ProtobufMessage] {
    try fields.compactMap { field in
      guard field.number == number, case .bytes(let bytes) = field.value else { return nil }
      return try ProtobufMessage(bytes)
    }
  }

  func text(_ number: UInt64) -> String {
    for field in fields where field.number == number {
      if case .bytes(let bytes) = field.value { return String(decoding: bytes, as: UTF8.self) }
    }
    return ""
  }

  func integers(_ number: UInt64) -> [UInt64] {
    fields.compactMap { field in
      if field.number == number, case .integer(let value) = field.value { value } else { nil }
    }
  }

  func integer(_ number: UInt64) -> UInt64 { integers(number).first ?? 0 }

  /// sint32 and sint64.
  func zigzags(_ number: UInt64) -> [Int64] {
    integers(number).map { Int64(bitPattern: $0 >> 1) ^ -Int64(bitPattern: $0 & 1) }
  }

  func double(_ number: UInt64) -> Double? {
    for field in fields where field.number == number {
      if case .double(let value) = field.value { return value }
    }
    return nil
  }
}

/// io.prometheus.client.MetricFamily, one after another, each with its length before it.
struct ProtobufExposition {
  struct Family {
    let name: String
    let help: String
    let type: UInt64
    let metrics: [ProtobufMessage]
  }

  let families: [Family]

  init(_ bytes: [UInt8]) throws {
    var reader = ProtobufReader(bytes)
    var families: [Family] = []
    while !reader.rest.isEmpty {
      let message = try ProtobufMessage(try reader.bytes())
      families.append(
        Family(
          name: message.text(1), help: message.text(2), type: message.integer(3), metrics: try message.messages(4)))
    }
    self.families = families
  }

  static func labels(of message: ProtobufMessage) throws -> [String: String] {
    try message.messages(1).reduce(into: [:]) { $0[$1.text(1)] = $1.text(2) }
  }

  /// The series that the text format would have.
  func samples() throws -> [ExpositionSample] {
    var samples: [ExpositionSample] = []
    for family in families {
      for metric in family.metrics {
        let labels = try Self.labels(of: metric)
        guard family.type == 4 else {
          let value = try metric.messages(family.type == 0 ? 3 : 2).first?.double(1)
          samples.append(ExpositionSample(name: family.name, labels: labels, value: value ?? .nan))
          continue
        }
        guard let histogram = try metric.messages(7).first else { continue }
        for bucket in try histogram.messages(3) {
          var labels = labels
          let bound = bucket.double(2) ?? .nan
          labels["le"] = bound == .infinity ? "+Inf" : String(bound)
          samples.append(
            ExpositionSample(name: family.name + "_bucket", labels: labels, value: Double(bucket.integer(1))))
        }
        samples.append(ExpositionSample(name: family.name + "_sum", labels: labels, value: histogram.double(2) ?? .nan))
        samples.append(
          ExpositionSample(name: family.name + "_count", labels: labels, value: Double(histogram.integer(1))))
      }
    }
    return samples
  }
}
