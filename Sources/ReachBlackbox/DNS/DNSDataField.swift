internal import ReachCore

/// One part of a record's data, with how it is written as text.
enum DNSDataField: Hashable, Sendable {
  /// A number of one, two or four octets, in decimal.
  case byte, word, longWord
  /// A domain name.
  case name
  /// A character string (RFC 1035 section 3.3), in quotes or without.
  case quoted, bare
  /// As many character strings as there are.
  case strings
  /// All that is left, in quotes.
  case octets
  /// All that is left, as it is.
  case raw
  /// All that is left, in hexadecimal; `splitHex` in pieces of 1024 digits.
  case lowerHex, upperHex, splitHex
  /// All that is left, in Base64 (RFC 4648 section 4).
  case base64
  /// A salt with its length before it, in hexadecimal (RFC 5155 section 3.3).
  case salt
  /// A hash with its length before it, in the Base32 of RFC 4648 section 7.
  case hash
  /// The types of a bit map (RFC 4034 section 4.1.2).
  case types
  /// A type of record.
  case type
  /// A point in time, in the digits of its year, month, day, hour, minute and second (RFC 4034 section 3.2).
  case time
  /// An address of four or sixteen octets.
  case ipv4, ipv6
  /// Parameters of a service (RFC 9460 section 2).
  case parameters
  /// So many octets in pairs with hyphens between (RFC 7043).
  case hardwareAddress(Int)
  /// Eight octets in fours with colons between (RFC 6742), in capitals or not.
  case locator(capital: Bool)
  /// A certificate's type, and an algorithm of DNSSEC, by name (RFC 4398 section 2.1).
  case certificateType, algorithm
  /// A place on Earth (RFC 1876).
  case location

  /// The parts of such a record's data, in order; nil for a type whose data is written in the form of RFC 3597.
  static func fields(of type: DNSRecordType) -> [DNSDataField]? { table[type.number] }

  private static let key: [DNSDataField] = [.word, .byte, .byte, .base64]
  private static let digest: [DNSDataField] = [.word, .byte, .byte, .upperHex]
  private static let signature: [DNSDataField] = [
    .type, .byte, .byte, .longWord, .time, .time, .word, .name, .base64,
  ]
  private static let service: [DNSDataField] = [.word, .name, .parameters]

  private static let table: [UInt16: [DNSDataField]] = [
    1: [.ipv4], 2: [.name], 3: [.name], 4: [.name], 5: [.name],
    6: [.name, .name, .longWord, .longWord, .longWord, .longWord, .longWord],
    7: [.name], 8: [.name], 9: [.name], 10: [.raw], 12: [.name], 13: [.quoted, .quoted], 14: [.name, .name],
    15: [.word, .name], 16: [.strings], 17: [.name, .name], 18: [.word, .name], 19: [.bare], 20: [.quoted, .quoted],
    21: [.word, .name], 23: [.name], 24: signature, 25: key, 26: [.word, .name, .name], 27: [.bare, .bare, .bare],
    28: [.ipv6], 29: [.location], 30: [.name, .types], 31: [.upperHex], 32: [.upperHex],
    33: [.word, .word, .word, .name], 35: [.word, .word, .quoted, .quoted, .quoted, .name], 36: [.word, .name],
    37: [.certificateType, .word, .algorithm, .base64], 39: [.name], 43: digest, 44: [.byte, .byte, .upperHex],
    46: signature, 47: [.name, .types], 48: key, 49: [.base64], 50: [.byte, .byte, .word, .salt, .hash, .types],
    51: [.byte, .byte, .word, .salt], 52: [.byte, .byte, .byte, .lowerHex], 53: [.byte, .byte, .byte, .splitHex],
    56: [.strings], 57: key, 58: [.name, .name], 59: digest, 60: key, 61: [.base64], 62: [.longWord, .word, .types],
    63: [.longWord, .byte, .byte, .lowerHex], 64: service, 65: service, 99: [.strings], 100: [.quoted],
    101: [.longWord], 102: [.longWord], 104: [.word, .locator(capital: false)], 105: [.word, .ipv4],
    106: [.word, .locator(capital: true)], 107: [.word, .name], 108: [.hardwareAddress(6)],
    109: [.hardwareAddress(8)], 128: [], 255: [], 256: [.word, .word, .octets], 257: [.byte, .bare, .octets],
    258: [.strings], 261: [.strings], 32768: digest, 32769: digest,
  ]
}
