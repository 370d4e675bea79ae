/// The type of a record, or of a question (IANA's registry of DNS parameters).
public struct DNSRecordType: Hashable, Sendable, CustomStringConvertible {
  /// TYPE or QTYPE as on the wire.
  public let number: UInt16

  /// The type of that number.
  public init(_ number: UInt16) { self.number = number }

  /// A: an IPv4 address.
  public static let a = DNSRecordType(1)
  /// SOA: the start of a zone.
  public static let soa = DNSRecordType(6)
  /// NULL: anything at all.
  public static let null = DNSRecordType(10)
  /// OPT: what EDNS adds to a message (RFC 6891).
  public static let opt = DNSRecordType(41)
  /// ANY, or `*`: a question for whatever there is.
  public static let any = DNSRecordType(255)

  /// The type of that name in capitals, or of a number in the form `TYPE65280` (RFC 3597 section 5); nil for neither.
  public init?(name: String) {
    if let number = Self.numbers[name] ?? numbered(name, behind: "TYPE") { self.init(number) } else { return nil }
  }

  /// The name; `TYPE65280` for a type without one.
  public var description: String { Self.names[number] ?? "TYPE\(number)" }

  /// Every name.
  public static var allNames: [String] { names.keys.sorted().compactMap { names[$0] } }

  private static let names: [UInt16: String] = [
    0: "None", 1: "A", 2: "NS", 3: "MD", 4: "MF", 5: "CNAME", 6: "SOA", 7: "MB", 8: "MG", 9: "MR", 10: "NULL",
    12: "PTR", 13: "HINFO", 14: "MINFO", 15: "MX", 16: "TXT", 17: "RP", 18: "AFSDB", 19: "X25", 20: "ISDN", 21: "RT",
    23: "NSAP-PTR", 24: "SIG", 25: "KEY", 26: "PX", 27: "GPOS", 28: "AAAA", 29: "LOC", 30: "NXT", 31: "EID",
    32: "NIMLOC", 33: "SRV", 34: "ATMA", 35: "NAPTR", 36: "KX", 37: "CERT", 39: "DNAME", 41: "OPT", 42: "APL",
    43: "DS", 44: "SSHFP", 45: "IPSECKEY", 46: "RRSIG", 47: "NSEC", 48: "DNSKEY", 49: "DHCID", 50: "NSEC3",
    51: "NSEC3PARAM", 52: "TLSA", 53: "SMIMEA", 55: "HIP", 56: "NINFO", 57: "RKEY", 58: "TALINK", 59: "CDS",
    60: "CDNSKEY", 61: "OPENPGPKEY", 62: "CSYNC", 63: "ZONEMD", 64: "SVCB", 65: "HTTPS", 99: "SPF", 100: "UINFO",
    101: "UID", 102: "GID", 103: "UNSPEC", 104: "NID", 105: "L32", 106: "L64", 107: "LP", 108: "EUI48", 109: "EUI64",
    128: "NXNAME", 249: "TKEY", 250: "TSIG", 251: "IXFR", 252: "AXFR", 253: "MAILB", 254: "MAILA", 255: "ANY",
    256: "URI", 257: "CAA", 258: "AVC", 260: "AMTRELAY", 261: "RESINFO", 32768: "TA", 32769: "DLV", 65535: "Reserved",
  ]
  private static let numbers = Dictionary(names.map { ($1, $0) }) { first, _ in first }
}

/// The class of a record, or of a question.
public struct DNSRecordClass: Hashable, Sendable, CustomStringConvertible {
  /// CLASS or QCLASS as on the wire.
  public let number: UInt16

  /// The class of that number.
  public init(_ number: UInt16) { self.number = number }

  /// IN: the Internet.
  public static let internet = DNSRecordClass(1)

  /// The class of that name in capitals, or of a number in the form `CLASS32` (RFC 3597 section 5); nil for neither.
  public init?(name: String) {
    if let number = Self.numbers[name] ?? numbered(name, behind: "CLASS") { self.init(number) } else { return nil }
  }

  /// The name; `CLASS32` for a class without one, and for ANY, which would read like the type of that name.
  public var description: String { number == 255 ? "CLASS255" : Self.names[number] ?? "CLASS\(number)" }

  /// Every name.
  public static var allNames: [String] { names.keys.sorted().compactMap { names[$0] } }

  private static let names: [UInt16: String] = [1: "IN", 2: "CS", 3: "CH", 4: "HS", 254: "NONE", 255: "ANY"]
  private static let numbers = Dictionary(names.map { ($1, $0) }) { first, _ in first }
}

/// What a server says came of a question, with the upper bits that an OPT record may carry (RFC 6895 section 2.3).
public struct DNSResponseCode: Hashable, Sendable, CustomStringConvertible {
  /// RCODE, of up to twelve bits.
  public let number: UInt16

  /// The code of that number.
  public init(_ number: UInt16) { self.number = number }

  /// The code of that name in capitals; nil for none.
  public init?(name: String) {
    if let number = Self.numbers[name] ?? Self.otherNames[name] { self.init(number) } else { return nil }
  }

  /// The name; `RCODE12` for a code without one.
  public var description: String { Self.names[number] ?? "RCODE\(number)" }

  /// Every name.
  public static var allNames: [String] { names.keys.sorted().compactMap { names[$0] } }

  private static let names: [UInt16: String] = [
    0: "NOERROR", 1: "FORMERR", 2: "SERVFAIL", 3: "NXDOMAIN", 4: "NOTIMP", 5: "REFUSED", 6: "YXDOMAIN", 7: "YXRRSET",
    8: "NXRRSET", 9: "NOTAUTH", 10: "NOTZONE", 11: "DSOTYPENI", 16: "BADSIG", 17: "BADKEY", 18: "BADTIME",
    19: "BADMODE", 20: "BADNAME", 21: "BADALG", 22: "BADTRUNC", 23: "BADCOOKIE",
  ]
  /// 16 has two meanings, and NOTIMP two spellings.
  private static let otherNames: [String: UInt16] = ["BADVERS": 16, "NOTIMPL": 4]
  private static let numbers = Dictionary(names.map { ($1, $0) }) { first, _ in first }
}

/// The number that follows the word, in decimal without leading zeros.
private func numbered(_ name: String, behind word: String) -> UInt16? {
  guard name.hasPrefix(word) else { return nil }
  let digits = name.dropFirst(word.count)
  guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }), digits == "0" || !digits.hasPrefix("0")
  else { return nil }
  return UInt16(digits)
}
