internal import ReachCore

/// Records as text, exactly as the Go library miekg/dns prints them: that is what the patterns of a module are written for.
enum DNSRecordText {
  /// The text of the record: name, TTL, class, type and data, the first four with a tabulator behind each. Nil when its name
  /// or its data is not what it should be. A type that is not known, or seldom seen, has the form of RFC 3597.
  static func text(of record: DNSReader.Record, in reader: DNSReader) -> String? {
    guard let owner = DNSName(reader, at: record.owner) else { return nil }
    let type = DNSRecordType(record.type)
    if type == .opt { return OPTText.text(of: record, in: reader) }
    var writer = DNSDataWriter(reader, record.data)
    guard let fields = DNSDataField.fields(of: type) else {
      writer.text += "\(owner)\t\(record.ttl)\tCLASS\(record.recordClass)\tTYPE\(record.type)\t"
      writer.text += "\\# \(record.data.count) "
      writer.write(.lowerHex)
      return writer.text
    }
    // NULL has no form of its own; what stands for it begins as a comment does.
    if type == .null { writer.text += ";" }
    writer.text += "\(owner)\t\(record.ttl)\t\(DNSRecordClass(record.recordClass))\t\(type)\t"
    return writer.write(fields) ? writer.text : nil
  }

  /// SERIAL of an SOA record (RFC 1035 section 3.3.13); 0 when the record ends before it, nil when it cannot be read.
  static func serial(of record: DNSReader.Record, in reader: DNSReader) -> UInt32? {
    var offset = record.data.lowerBound
    for _ in 0..<2 where offset < record.data.upperBound {
      guard let end = reader.endOfName(at: offset) else { return nil }
      offset = end
    }
    return offset >= record.data.upperBound ? 0 : reader.longWord(offset)
  }
}

/// The OPT record (RFC 6891), which is a remark on the message rather than a record.
enum OPTText {
  static func text(of record: DNSReader.Record, in reader: DNSReader) -> String? {
    var text = "\n;; OPT PSEUDOSECTION:\n; EDNS: version \(record.ttl >> 16 & 0xff); flags:"
    if record.ttl & 0x8000 != 0 { text += " do" }
    if record.ttl & 0x4000 != 0 { text += " co" }
    text += "; "
    let rest = record.ttl & 0x3fff
    if rest != 0 { text += "MBZ: 0x\(padded(String(rest, radix: 16), to: 4)), " }
    text += "udp: \(record.recordClass)"
    var offset = record.data.lowerBound
    while offset < record.data.upperBound {
      guard let code = reader.word(offset), let length = reader.word(offset + 2),
        offset + 4 + Int(length) <= record.data.upperBound
      else { return nil }
      let value = reader.bytes[(offset + 4)..<(offset + 4 + Int(length))]
      // A cookie is printed as what it is (RFC 7873), the others as octets.
      let octets = hexadecimal(value)
      text += code == 10 ? "\n; COOKIE: \(octets)" : "\n; LOCAL OPT: \(code):0x\(octets)"
      offset += 4 + Int(length)
    }
    return text
  }
}

/// The octets in lower-case hexadecimal.
func hexadecimal(_ octets: some Sequence<UInt8>) -> String {
  let digits = Array("0123456789abcdef".utf8)
  var text: [UInt8] = []
  for octet in octets {
    text.append(digits[Int(octet >> 4)])
    text.append(digits[Int(octet & 0xf)])
  }
  return String(decoding: text, as: UTF8.self)
}

/// The digits with zeros before them.
func padded(_ digits: String, to width: Int) -> String {
  String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
}
