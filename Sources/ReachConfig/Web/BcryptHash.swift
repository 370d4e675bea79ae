/// The form of a bcrypt hash (crypt(5)): `$2y$10$`, 22 characters of salt and 31 of the hash itself.
enum BcryptHash {
  /// Above this, one look at a password takes longer than a client waits.
  static let highestCost = 17
  /// Above this, it takes a second and more.
  static let usualCost = 13

  /// The cost, a power of two of rounds; nil for what is no bcrypt hash.
  static func cost(of text: String) -> Int? {
    let bytes = Array(text.utf8)
    guard bytes.count == 60, bytes[0] == UInt8(ascii: "$"), bytes[1] == UInt8(ascii: "2"),
      "aby".utf8.contains(bytes[2]), bytes[3] == UInt8(ascii: "$"), bytes[6] == UInt8(ascii: "$"),
      bytes[7...].allSatisfy(isLetter)
    else { return nil }
    guard let cost = Int(String(decoding: bytes[4...5], as: UTF8.self)), (4...31).contains(cost) else { return nil }
    return cost
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "/"): true
    default: false
    }
  }
}
