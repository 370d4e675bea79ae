internal import ReachCore

/// What a name server's message says to a question for addresses. Total: any bytes at all give a reply, none give a trap.
struct DNSMessage {
  private let reader: DNSReader
  /// More aliases than this in one answer are taken for a loop.
  private static let longestAliasChain = 16

  /// The message in these bytes.
  init(_ bytes: [UInt8]) { reader = DNSReader(bytes) }

  /// The message's number, which is the query's; nil when there is no header.
  var id: UInt16? { reader.header?.id }

  /// What the message says to the question, as the answer of a server that was asked just that.
  func reply(to question: DNSQuestion) -> DNSReply {
    guard let header = reader.header, header.isResponse, header.operation == 0 else { return .failed(.dnsMalformed) }
    var offset = DNSReader.headerLength
    if header.questions == 1 {
      guard let end = endOfQuestion(at: offset, equalTo: question) else { return .failed(.dnsMalformed) }
      offset = end
    } else if header.questions != 0 || (header.code == 0 || header.code == 3) {
      // A server that fails a query may send the header alone; one that answers repeats the question.
      return .failed(.dnsMalformed)
    }
    if header.isTruncated { return .truncated }
    switch header.code {
    case 0: break
    case 1: return .formatError
    case 2: return .failed(.dnsServFail)
    case 3: return .nxDomain
    case 4: return .failed(.dnsNotImp)
    case 5: return .failed(.dnsRefused)
    default: return .failed(.dnsTransient)
    }
    let reply = addresses(from: offset, count: Int(header.answers), for: question)
    if reply == .noData, header.answers == 0, !header.isAuthoritative, !header.offersRecursion {
      // A referral: the server only says who may know (RFC 1034 section 4.3.1), which is no word on the name.
      return .failed(.dnsTransient)
    }
    return reply
  }

  // MARK: Answers

  /// The addresses of the question's name, looked for under the names its aliases lead to, in any order of records.
  private func addresses(from start: Int, count: Int, for question: DNSQuestion) -> DNSReply {
    var records: [DNSReader.Record] = []
    records.reserveCapacity(min(count, 64))
    var offset = start
    for _ in 0..<count {
      guard let record = reader.record(at: offset) else { return .failed(.dnsMalformed) }
      offset = record.data.upperBound
      guard record.recordClass == 1, record.type == question.type || record.type == 5 else { continue }
      // An owner that cannot be read might be the name that was asked for: that is no proof of there being nothing.
      guard reader.word(record.owner) == 0xc00c || name(at: record.owner) != nil else { return .failed(.dnsMalformed) }
      records.append(record)
    }
    var name = question.wireName
    var ttl = UInt32.max
    for _ in 0...Self.longestAliasChain {
      var found: [IPAddress] = []
      var alias: DNSReader.Record?
      for record in records where owns(record.owner, name, question) {
        if record.type == 5 {
          alias = alias ?? record
        } else {
          guard let address = address(in: record.data, question.family) else { return .failed(.dnsMalformed) }
          ttl = min(ttl, Self.lifetime(of: record))
          if !found.contains(address) { found.append(address) }
        }
      }
      if !found.isEmpty { return .addresses(found, ttl: ttl) }
      guard let alias else { return .noData }
      guard let target = self.name(at: alias.data.lowerBound) else { return .failed(.dnsMalformed) }
      ttl = min(ttl, Self.lifetime(of: alias))
      name = target
    }
    return .failed(.dnsMalformed)
  }

  /// The TTL. RFC 2181 section 8: one with the top bit set counts as 0.
  private static func lifetime(of record: DNSReader.Record) -> UInt32 {
    record.ttl > UInt32(Int32.max) ? 0 : record.ttl
  }

  private func address(in data: Range<Int>, _ family: IPAddress.Family) -> IPAddress? {
    data.count == (family == .ipv4 ? 4 : 16) ? IPAddress(octets: reader.bytes[data]) : nil
  }

  // MARK: Names

  /// Whether the name at `offset` is `name`. The usual pointer to the question is known at a glance.
  private func owns(_ offset: Int, _ name: [UInt8], _ question: DNSQuestion) -> Bool {
    if reader.word(offset) == 0xc00c, name == question.wireName { return true }
    return self.name(at: offset) == name
  }

  /// The name at `start` without compression, in lower case; nil when it is none.
  private func name(at start: Int) -> [UInt8]? { reader.name(at: start).map(DNSReader.lowercased) }

  /// Where the question at `start` ends, provided that it is this one.
  private func endOfQuestion(at start: Int, equalTo wanted: DNSQuestion) -> Int? {
    guard let question = reader.question(at: start), question.type == wanted.type, question.questionClass == 1,
      name(at: start) == wanted.wireName
    else { return nil }
    return question.end
  }
}
