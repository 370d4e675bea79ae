internal import CCrypt
internal import CGnuTLS

/// Whether a password comes to a hash. The answer takes as long as the hash asks for, tens of milliseconds mostly.
struct PasswordQuestion: Sendable {
  /// Tells one question from others, and tells nothing of what is in it: a digest with a salt of this process's.
  struct Digest: Hashable, Sendable {
    private let bytes: [UInt8]
    fileprivate init(_ bytes: [UInt8]) { self.bytes = bytes }
  }

  /// The question's digest.
  let digest: Digest
  /// Whether the answer can be anything but no.
  let isKnownUser: Bool
  private let password: [UInt8]
  private let hash: String

  /// bcrypt looks at no more of a password.
  private static let significantLength = 72

  /// Looks at the password. Blocks meanwhile.
  var isRight: Bool {
    // A password with a zero byte in it would be taken for what stands before that.
    let isWhole = !password.contains(0)
    let text = password.prefix { $0 != 0 }.prefix(Self.significantLength).map { CChar(bitPattern: $0) } + [0]
    let isMatch = unsafe CCrypt_matches(text, hash) == 1
    return isMatch && isKnownUser && isWhole
  }

  /// Makes questions for a set of users.
  struct Maker: Sendable {
    private let users: [[UInt8]: String]
    private let costs: [String]
    private let salt: [UInt8]

    /// `users` are names with hashes; `salt` is this process's secret.
    init(_ users: [String: String], salt: [UInt8]) {
      self.users = users.reduce(into: [:]) { $0[Array($1.key.utf8)] = $1.value }
      costs = users.values.map { String($0.prefix(7)) }.sorted()
      self.salt = salt
    }

    /// The question that credentials come to. A user who is not known has a hash as one of the others has, always the
    /// same one, and so cannot be told by the time that the answer takes.
    func question(_ credentials: BasicCredentials) -> PasswordQuestion {
      let known = users[credentials.name]
      let hash = known ?? stranger(credentials.name)
      var bytes: [UInt8] = [known == nil ? 0 : 1]
      for part in [credentials.name, Array(hash.utf8), credentials.password] {
        bytes += octets(part.count) + part
      }
      return PasswordQuestion(
        digest: Digest(Self.hmac(bytes, salt)), isKnownUser: known != nil, password: credentials.password, hash: hash)
    }

    /// The cost of one of the users, and a salt with no password's hash behind it.
    private func stranger(_ name: [UInt8]) -> String {
      let choice = Self.hmac(name, salt).prefix(4).reduce(0) { $0 << 8 | Int($1) }
      let cost = costs.isEmpty ? "$2y$10$" : costs[choice % costs.count]
      return cost + String(repeating: ".", count: 53)
    }

    private func octets(_ length: Int) -> [UInt8] {
      (0..<8).map { UInt8(truncatingIfNeeded: length >> ($0 * 8)) }
    }

    private static func hmac(_ bytes: [UInt8], _ key: [UInt8]) -> [UInt8] {
      var digest = [UInt8](repeating: 0, count: 32)
      let code = unsafe CGnuTLS_hmac(key, key.count, bytes, bytes.count, &digest)
      // Without a digest nothing may be taken for the same question.
      if code < 0 { digest = (0..<32).map { _ in UInt8.random(in: 0...255) } }
      return digest
    }
  }
}
