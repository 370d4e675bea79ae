internal import ReachCore

/// Reads a name server's message (RFC 1035 section 4). Total: any bytes at all give a reply, none give a trap.
struct DNSMessage {
  private let bytes: [UInt8]
  private static let headerLength = 12
  /// More aliases than this in one answer are taken for a loop.
  private static let longestAliasChain = 16

  /// The message in these bytes.
  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The message's number, which is the query's; nil when there is no header.
  var id: UInt16? { bytes.count >= Self.headerLength ? word(0) : nil }

  /// What the message says to the question, as the answer of a server that was asked just that.
  func reply(to question: DNSQuestion) -> DNSReply {
    guard bytes.count >= Self.headerLength, let flags = word(2), let questions = word(4), let answers = word(6) else {
      return .failed(.dnsMalformed)
    }
    let isResponse = flags & 0x8000 != 0
    let isQueryOperation = flags & 0x7800 == 0
    guard isResponse, isQueryOperation else { return .failed(.dnsMalformed) }
    let code = flags & 0xf
    var offset = Self.headerLength
    if questions == 1 {
      guard let end = endOfQuestion(at: offset, equalTo: question) else { return .failed(.dnsMalformed) }
      offset = end
    } else if questions != 0 || (code == 0 || code == 3) {
      // A server that fails a query may send the header alone; one that answers repeats the question.
      return .failed(.dnsMalformed)
    }
    if flags & 0x0200 != 0 { return .truncated }
    switch code {
    case 0: break
    case 1: return .formatError
    case 2: return .failed(.dnsServFail)
    case 3: return .nxDomain
    case 4: return .failed(.dnsNotImp)
    case 5: return .failed(.dnsRefused)
    default: return .failed(.dnsTransient)
    }
    let reply = addresses(from: offset, count: Int(answers), for: question)
    let isAuthoritative = flags & 0x0400 != 0
    let offersRecursion = flags & 0x0080 != 0
    if reply == .noData, answers == 0, !isAuthoritative, !offersRecursion {
      // A referral: the server only says who may know (RFC 1034 section 4.3.1), which is no word on the name.
      return .failed(.dnsTransient)
    }
    return reply
  }

  // MARK: Answers

  private struct Record {
    var owner: Int
    var type: UInt16
    var ttl: UInt32
    var data: Range<Int>
  }

  /// The addresses of the question's name, looked for under the names its aliases lead to, in any order of records.
  private func addresses(from start: Int, count: Int, for question: DNSQuestion) -> DNSReply {
    var records: [Record] = []
    records.reserveCapacity(min(count, 64))
    var offset = start
    for _ in 0..<count {
      guard let record = record(at: offset) else { return .failed(.dnsMalformed) }
      offset = record.data.upperBound
      guard record.type == question.type || record.type == 5 else { continue }
      // An owner that cannot be read might be the name that was asked for: that is no proof of there being nothing.
      guard word(record.owner) == 0xc00c || name(at: record.owner) != nil else { return .failed(.dnsMalformed) }
      records.append(record)
    }
    var name = question.wireName
    var ttl = UInt32.max
    for _ in 0...Self.longestAliasChain {
      var found: [IPAddress] = []
      var alias: Record?
      for record in records where owns(record.owner, name, question) {
        if record.type == 5 {
          alias = alias ?? record
        } else {
          guard let address = address(in: record.data, question.family) else { return .failed(.dnsMalformed) }
          ttl = min(ttl, record.ttl)
          if !found.contains(address) { found.append(address) }
        }
      }
      if !found.isEmpty { return .addresses(found, ttl: ttl) }
      guard let alias else { return .noData }
      guard let target = self.name(at: alias.data.lowerBound) else { return .failed(.dnsMalformed) }
      ttl = min(ttl, alias.ttl)
      name = target
    }
    return .failed(.dnsMalformed)
  }

  private func record(at start: Int) -> Record? {
    guard let end = endOfName(at: start), let type = word(end), let recordClass = word(end + 2),
      let high = word(end + 4), let low = word(end + 6), let length = word(end + 8)
    else { return nil }
    let data = (end + 10)..<(end + 10 + Int(length))
    guard data.upperBound <= bytes.count else { return nil }
    let ttl = UInt32(high) << 16 | UInt32(low)
    // RFC 2181 section 8: a TTL with the top bit set counts as 0.
    return Record(
      owner: start, type: recordClass == 1 ? type : 0, ttl: ttl > UInt32(Int32.max) ? 0 : ttl, data: data)
  }

  private func address(in data: Range<Int>, _ family: IPAddress.Family) -> IPAddress? {
    guard data.count == (family == .ipv4 ? 4 : 16) else { return nil }
    var high: UInt64 = 0
    var low: UInt64 = 0
    for index in data {
      high = high << 8 | low >> 56
      low = low << 8 | UInt64(bytes[index])
    }
    return family == .ipv4
      ? IPAddress(ipv4: UInt32(truncatingIfNeeded: low)) : IPAddress(ipv6High: high, low: low)
  }

  // MARK: Names

  /// Whether the name at `offset` is `name`. The usual pointer to the question is known at a glance.
  private func owns(_ offset: Int, _ name: [UInt8], _ question: DNSQuestion) -> Bool {
    if word(offset) == 0xc00c, name == question.wireName { return true }
    return self.name(at: offset) == name
  }

  /// The name at `start` without compression, in lower case; nil when it is none.
  private func name(at start: Int) -> [UInt8]? {
    var name: [UInt8] = []
    var offset = start
    // A pointer leads to what came earlier (RFC 1035 section 4.1.4); each must lead further back, so this ends.
    var limit = bytes.count
    while let length = byte(offset) {
      if length == 0 { return name + [0] }
      if length >= 0xc0 {
        guard let pointer = word(offset) else { return nil }
        let target = Int(pointer & 0x3fff)
        guard target < min(offset, limit) else { return nil }
        limit = target
        offset = target
        continue
      }
      let end = offset + 1 + Int(length)
      guard length < 64, end <= bytes.count, name.count + Int(length) + 2 <= 255 else { return nil }
      name.append(length)
      for index in (offset + 1)..<end { name.append(DNSQuestion.lowercased(bytes[index])) }
      offset = end
    }
    return nil
  }

  /// Where the name at `start` ends in the message, its compression pointer included.
  private func endOfName(at start: Int) -> Int? {
    var offset = start
    while let length = byte(offset) {
      if length == 0 { return offset + 1 }
      if length >= 0xc0 { return offset + 2 <= bytes.count ? offset + 2 : nil }
      guard length < 64 else { return nil }
      offset += 1 + Int(length)
    }
    return nil
  }

  /// Where the question at `start` ends, provided that it is this one.
  private func endOfQuestion(at start: Int, equalTo question: DNSQuestion) -> Int? {
    guard let end = endOfName(at: start), word(end) == question.type, word(end + 2) == 1,
      name(at: start) == question.wireName
    else { return nil }
    return end + 4
  }

  // MARK: Octets

  private func byte(_ offset: Int) -> UInt8? {
    offset >= 0 && offset < bytes.count ? bytes[offset] : nil
  }

  private func word(_ offset: Int) -> UInt16? {
    guard offset >= 0, offset + 1 < bytes.count else { return nil }
    return UInt16(bytes[offset]) << 8 | UInt16(bytes[offset + 1])
  }
}
