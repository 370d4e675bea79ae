internal import ReachCore

/// The SRV records of an answer (RFC 2782).
struct ServiceRecords: Hashable {
  /// SRV as a type of records.
  static let type: UInt16 = 33

  /// Each server as `host:port`, those of the lowest priority number first, each once.
  var targets: [String] = []
  /// The smallest TTL of the records that led here; nil without any.
  var ttl: Duration?

  /// A response code that says something other than that there is, or is not, what was asked for.
  struct Refusal: Error, Hashable {
    let message: String
  }

  /// Reads an answer. Throws when it is malformed, or its code tells of a failure.
  init(_ message: [UInt8]) throws(Refusal) {
    let reader = DNSReader(message)
    guard let header = reader.header, header.isResponse else { throw Refusal(message: "the answer is malformed") }
    switch header.code {
    case 0: break
    // The name does not exist, and that is an answer.
    case 3: return
    default: throw Refusal(message: "the name server answered \(DNSResponseCode(header.code))")
    }
    var offset = DNSReader.headerLength
    for _ in 0..<header.questions {
      guard let question = reader.question(at: offset) else { throw Refusal(message: "the answer is malformed") }
      offset = question.end
    }
    var found: [(priority: UInt16, text: String)] = []
    for _ in 0..<header.answers {
      guard let record = reader.record(at: offset) else { throw Refusal(message: "the answer is malformed") }
      offset = record.data.upperBound
      guard record.recordClass == 1 else { continue }
      // A TTL with its highest bit set counts as zero (RFC 2181 section 8).
      let seconds = record.ttl > UInt32(Int32.max) ? 0 : record.ttl
      ttl = min(ttl ?? .seconds(UInt32.max), .seconds(seconds))
      guard record.type == Self.type else { continue }
      guard record.data.count >= 7, let priority = reader.word(record.data.lowerBound),
        let port = reader.word(record.data.lowerBound + 4), let name = DNSName(reader, at: record.data.lowerBound + 6)
      else { throw Refusal(message: "the answer is malformed") }
      // The root says that there is no such service; a port of zero is none.
      guard name != .root, port > 0 else { continue }
      found.append((priority, "\(name.description.lowercased().dropLast()):\(port)"))
    }
    found.sort { ($0.priority, $0.text) < ($1.priority, $1.text) }
    var seen: Set<String> = []
    targets = found.map(\.text).filter { seen.insert($0).inserted }
  }
}
