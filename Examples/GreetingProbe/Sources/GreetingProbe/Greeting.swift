/// What has come of a greeting so far: a plain value, judged without a socket.
struct Greeting {
  /// What can be said of it.
  enum Judgement: Hashable {
    /// More must come.
    case incomplete
    /// It is the one that is hoped for.
    case right
    /// It is another one, or too long.
    case wrong
  }

  /// No more than this is read: RFC 4253 allows a line of SSH 255 bytes, RFC 5321 one of SMTP 512.
  static let longest = 512
  static let lineEnd = UInt8(ascii: "\n")

  private let prefix: [UInt8]
  private(set) var octets: [UInt8] = []

  /// A greeting of which nothing has come; it is to begin with these octets.
  init(beginningWith prefix: [UInt8]) { self.prefix = prefix }

  /// How many more octets it may have.
  var room: Int { Self.longest - octets.count }

  /// Takes what has come, in whatever pieces.
  mutating func take(_ more: [UInt8]) { octets += more.prefix(room) }

  /// What is to be thought of it. It is wrong as soon as one octet is, and right at the end of its line.
  var judgement: Judgement {
    if !octets.starts(with: prefix), !prefix.starts(with: octets) { return .wrong }
    if octets.count >= prefix.count, octets.contains(Self.lineEnd) { return .right }
    return room > 0 ? .incomplete : .wrong
  }

  /// Its line for people, without anything that could move a terminal's cursor.
  var line: String {
    let line = octets.prefix { $0 != Self.lineEnd && $0 != UInt8(ascii: "\r") }
    return String(decoding: line.map { (0x20...0x7e).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
  }
}
