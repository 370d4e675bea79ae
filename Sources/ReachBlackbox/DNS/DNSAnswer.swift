internal import ReachCore

/// An answer with its records as text, one by one. Total: any octets give an answer or nil.
///
/// What is taken for well formed is what the Go library miekg/dns takes for it, which blackbox_exporter uses, since a
/// message that cannot be read fails a probe.
struct DNSAnswer: Hashable, Sendable {
  /// One record.
  struct Record: Hashable, Sendable {
    let type: DNSRecordType
    /// As in a zone file, with a tabulator after each of name, TTL, class and type.
    let text: String
    /// The serial number of an SOA record that has one.
    let serial: UInt32?
  }

  /// What came of the question, with the bits of an OPT record.
  let code: DNSResponseCode
  /// Whether it did not fit.
  let isTruncated: Bool
  let answers: [Record]
  let authorities: [Record]
  let additionals: [Record]

  /// Reads a message; nil when a part of it is cut, or is not what its type says.
  init?(_ reader: DNSReader) {
    guard let header = reader.header else { return nil }
    var offset = DNSReader.headerLength
    // A header alone is an answer, whatever it counts.
    let isHeaderAlone = reader.bytes.count == DNSReader.headerLength
    for _ in 0..<(isHeaderAlone ? 0 : header.questions) where offset < reader.bytes.count {
      guard let question = reader.question(at: offset), reader.name(at: question.name) != nil else { return nil }
      offset = question.end
    }
    guard let answers = Self.section(reader, count: header.answers, from: &offset),
      let authorities = Self.section(reader, count: header.authorities, from: &offset),
      let additionals = Self.section(reader, count: header.additionals, from: &offset)
    else { return nil }
    var code = header.code
    // RFC 6891 section 6.1.3: the upper eight bits of twelve are the first octet of the TTL.
    if let opt = additionals.last(where: { $0.type == .opt }) { code |= opt.codeBits }
    self.code = DNSResponseCode(code)
    isTruncated = header.isTruncated
    self.answers = answers.map(\.record)
    self.authorities = authorities.map(\.record)
    self.additionals = additionals.map(\.record)
  }

  private struct Read {
    let record: Record
    let codeBits: UInt16
    var type: DNSRecordType { record.type }
  }

  /// The records of a section. There may be fewer than are counted when the message ends with one.
  private static func section(_ reader: DNSReader, count: UInt16, from offset: inout Int) -> [Read]? {
    var records: [Read] = []
    for _ in 0..<count where offset < reader.bytes.count {
      guard let record = reader.record(at: offset), let text = DNSRecordText.text(of: record, in: reader) else {
        return nil
      }
      let type = DNSRecordType(record.type)
      let serial = type == .soa ? DNSRecordText.serial(of: record, in: reader) : nil
      let bits = UInt16(truncatingIfNeeded: record.ttl >> 24) << 4
      records.append(Read(record: Record(type: type, text: text, serial: serial), codeBits: bits))
      offset = record.data.upperBound
    }
    return records
  }
}
