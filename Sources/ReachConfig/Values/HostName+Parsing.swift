public import ReachCore

extension HostName {
  /// Reads the name of a host (RFC 1123, RFC 2181, RFC 5891), which may have a trailing dot and underscores.
  ///
  /// `query` is in A-labels and lower case; `display` has U-labels where the name has any. Throws for an address, a
  /// URL, a label above 63 or a name above 253 octets, an empty label, and a character that no name has.
  public init(parsing text: String) throws(ValueError) {
    try Self.checkShape(text)
    var name = text
    if name.hasSuffix(".") { name.removeLast() }
    let labels = name.split(separator: ".", omittingEmptySubsequences: false)
    let isInternational =
      !name.utf8.allSatisfy { $0 < 0x80 } || labels.contains { $0.lowercased().hasPrefix("xn--") }
    let query = isInternational ? try IDNA.query(name) : name.lowercased()
    try Self.checkLabels(query, of: text)
    // Only now is it known that full-width digits are digits.
    if IPAddress.looksNumeric(query) { throw Self.numeric(query) }
    let display = query.contains("xn--") ? IDNA.display(query) ?? query : query
    self.init(query: query, display: display)
  }

  private static func checkShape(_ text: String) throws(ValueError) {
    if text.isEmpty { throw ValueError("a host's name is empty; write one such as example.com") }
    if text.contains("://") {
      throw ValueError("\(quoted(text)) is a URL; write the host alone, such as example.com, and its port")
    }
    if let space = text.unicodeScalars.first(where: { $0.properties.isWhitespace }) {
      let what = space == " " ? "a space" : "white space"
      throw ValueError("\(quoted(text)) holds \(what), which no host's name has; remove it")
    }
    if IPAddress.looksNumeric(text) { throw numeric(text) }
  }

  private static func numeric(_ text: String) -> ValueError {
    do {
      _ = try IPAddress(parsing: text)
      return ValueError("\(quoted(text)) is an address, not a name")
    } catch {
      return ValueError(error.description)
    }
  }

  private static func checkLabels(_ query: String, of text: String) throws(ValueError) {
    guard query.utf8.count <= 253 else {
      throw ValueError("\(quoted(text)) is \(query.utf8.count) octets long; a host's name has at most 253")
    }
    for label in query.split(separator: ".", omittingEmptySubsequences: false) {
      guard !label.isEmpty else {
        throw ValueError("\(quoted(text)) has an empty label; remove the dot too many")
      }
      guard label.utf8.count <= 63 else {
        throw ValueError("\(quoted(text)) has a label of \(label.utf8.count) octets; a label has at most 63")
      }
      if let stranger = label.unicodeScalars.first(where: { !isAllowed($0) }) {
        throw ValueError(
          "\(quoted(text)) holds \(quoted(String(stranger))), which no host's name has; write letters, digits, "
            + "hyphens and dots")
      }
      if label.hasPrefix("-") || label.hasSuffix("-") {
        throw ValueError("\(quoted(text)) has a label that begins or ends with a hyphen; remove it")
      }
    }
  }

  private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "0"..."9", "-", "_": true
    default: false
    }
  }
}
