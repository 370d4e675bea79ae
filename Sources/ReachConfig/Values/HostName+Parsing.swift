public import ReachCore

extension HostName {
  /// Reads the name of a host (RFC 1123, RFC 2181, RFC 5891), which may have a trailing dot and underscores.
  ///
  /// `query` is in A-labels and lower case; `display` has U-labels where the name has any. Throws for an address, a
  /// URL, a label above 63 or a name above 253 octets, an empty label, and a character that no name has.
  public init(parsing text: String) throws(ValueError) {
    if let name = Self.plain(text) {
      self.init(query: name, display: name)
      return
    }
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
    let display = query.holds("xn--") ? IDNA.display(query) ?? query : query
    self.init(query: query, display: display)
  }

  /// The name in lower case, when it is one beyond doubt: the usual case, in one pass over its octets.
  private static func plain(_ text: String) -> String? {
    var octets = Array(text.utf8)
    if octets.last == UInt8(ascii: ".") { octets.removeLast() }
    guard octets.count <= 253 else { return nil }
    var start = 0
    for index in 0...octets.count {
      if index == octets.count || octets[index] == UInt8(ascii: ".") {
        guard (1...63).contains(index - start), octets[start] != UInt8(ascii: "-"),
          octets[index - 1] != UInt8(ascii: "-")
        else { return nil }
        let isPunycode =
          index - start > 3 && octets[start] == UInt8(ascii: "x") && octets[start + 1] == UInt8(ascii: "n")
        // A last label that begins with a digit might be a number, and the whole an address.
        let isLast = index == octets.count
        if isPunycode || isLast && (48...57).contains(octets[start]) { return nil }
        start = index + 1
        continue
      }
      switch octets[index] {
      case 97...122, 48...57, UInt8(ascii: "-"), UInt8(ascii: "_"): break
      case 65...90: octets[index] += 32
      default: return nil
      }
    }
    return String(decoding: octets, as: UTF8.self)
  }

  private static func checkShape(_ text: String) throws(ValueError) {
    if text.isEmpty { throw ValueError("a host's name is empty; write one such as example.com") }
    if text.hasScheme {
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
