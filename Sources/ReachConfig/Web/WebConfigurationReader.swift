internal import ReachCore

/// Reads a file for `web.config`.
///
/// Every key of the toolkit's is read. No message shows a value that is, or may by mistake be, a secret.
struct WebConfigurationReader {
  let problems: ProblemList
  let file: String
  private var values: ValueReader { ValueReader(problems: problems) }

  /// What the file says, as far as it can be told.
  func read(_ root: YAMLNode?) -> WebConfiguration {
    var configuration = WebConfiguration()
    configuration.file = file
    guard let root, isMap(root, "the file") else { return configuration }
    let fields = Fields(
      root, in: "the file", known: ["tls_server_config", "http_server_config", "basic_auth_users", "rate_limit"],
      problems: problems)
    if let node = fields["tls_server_config"], isMap(node, "tls_server_config") {
      let reader = WebTLSReader(problems: problems, folder: folder(of: file))
      configuration.places[.tls] = fields.position(of: "tls_server_config")
      configuration.tls = reader.read(node, places: &configuration.places)
    }
    if let node = fields["http_server_config"], isMap(node, "http_server_config") {
      configuration.headers = readHeaders(node)
    }
    if let node = fields["basic_auth_users"], isMap(node, "basic_auth_users") {
      configuration.users = readUsers(node)
    }
    if let node = fields["rate_limit"], isMap(node, "rate_limit") { configuration.rateLimit = readRateLimit(node) }
    return configuration
  }

  /// Whether it is a map; an empty value is none and yet right. What it is instead is not shown: it may be a secret.
  private func isMap(_ node: YAMLNode, _ what: String) -> Bool {
    if node.kind == .mapping { return true }
    if !node.isEmpty { problems.error("\(what) must be a map of keys and values", at: node.position) }
    return false
  }

  // MARK: http_server_config

  private func readHeaders(_ node: YAMLNode) -> [WebConfiguration.Header] {
    let fields = Fields(node, in: "http_server_config", known: ["http2", "headers"], problems: problems)
    // HTTP/2 is not spoken. Allowing it, which is the toolkit's default, asks for nothing.
    if let node = fields["http2"] { _ = values.yamlOneBoolean(node, "http2") }
    guard let node = fields["headers"], isMap(node, "headers") else { return [] }
    let known = Fields(node, in: "headers", known: Self.headers.map(\.name), problems: problems)
    return Self.headers.compactMap { header in
      guard let node = known[header.name] else { return nil }
      guard let text = values.text(node, header.name) else { return nil }
      // As with the toolkit, an empty one is not sent.
      if text.isEmpty { return nil }
      if !header.values.isEmpty {
        guard let word = values.word(node, header.name, among: header.values) else { return nil }
        return WebConfiguration.Header(name: header.name, value: word)
      }
      guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value < 0x7f || $0 == "\t" }) else {
        return values.refuse(node, header.name, "holds a character that no header may have; write it in plain ASCII")
      }
      return WebConfiguration.Header(name: header.name, value: text)
    }
  }

  private static let headers: [(name: String, values: [String])] = [
    ("Content-Security-Policy", []), ("X-Frame-Options", ["deny", "sameorigin"]),
    ("X-Content-Type-Options", ["nosniff"]), ("X-XSS-Protection", []), ("Strict-Transport-Security", []),
  ]

  // MARK: basic_auth_users

  private func readUsers(_ node: YAMLNode) -> [WebConfiguration.User] {
    node.entries.compactMap { key, value in
      guard key.kind == .scalar else { return nil }
      let name = key.text
      guard !name.utf8.contains(UInt8(ascii: ":")) else {
        problems.error("a user's name must not hold ':', since it ends the name in a request", at: key.position)
        return nil
      }
      let hash = value.kind == .scalar ? value.text : ""
      guard let cost = BcryptHash.cost(of: hash) else {
        problems.error(
          "the password of this user is no bcrypt hash; make one with: htpasswd -nBC 10 \"\" | tr -d ':\\n'",
          at: value.position)
        return nil
      }
      if cost > BcryptHash.highestCost {
        problems.error(
          "the hash of this user has the cost \(cost), and looking at one password would take minutes; "
            + "make one of cost 10 to 12", at: value.position)
        return nil
      }
      if cost > BcryptHash.usualCost {
        problems.warning(
          "the hash of this user has the cost \(cost), and looking at one password takes seconds; "
            + "make one of cost 10 to 12", at: value.position)
      }
      return WebConfiguration.User(name: name, hash: hash)
    }
  }

  // MARK: rate_limit

  private func readRateLimit(_ node: YAMLNode) -> WebConfiguration.RateLimit? {
    let fields = Fields(node, in: "rate_limit", known: ["interval", "burst"], problems: problems)
    let burst = fields["burst"].flatMap { values.integer($0, "burst", in: 0...1_000_000_000) }
    guard let node = fields["interval"] else {
      // The toolkit takes an interval of zero, which is no limit.
      if fields["burst"] != nil {
        problems.warning("without 'interval' nothing is limited; write one, such as 100ms", at: fields.position)
      }
      return nil
    }
    guard let interval = values.number(node, "interval", parse: GoDuration.parse), interval > .zero else { return nil }
    guard let burst, burst > 0 else {
      if fields["burst"] == nil || burst == 0 {
        problems.error(
          "with 'interval' and no 'burst' of at least 1 no request would be answered; write one, such as 10",
          at: fields.position(of: "burst"))
      }
      return nil
    }
    return WebConfiguration.RateLimit(interval: interval, burst: burst)
  }
}

/// The folder that a file is in, with a slash at its end; nothing for the working directory.
func folder(of file: String) -> String {
  file.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(file[...$0]) } ?? ""
}

extension ValueReader {
  /// `true` or `false`, or one of the words that YAML 1.1, and so the toolkit, takes for them.
  func yamlOneBoolean(_ node: YAMLNode, _ key: String) -> Bool? {
    if node.isPlain {
      if ["yes", "Yes", "YES", "on", "On", "ON", "y", "Y"].contains(node.text) { return true }
      if ["no", "No", "NO", "off", "Off", "OFF", "n", "N"].contains(node.text) { return false }
    }
    return boolean(node, key)
  }
}
