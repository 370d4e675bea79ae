/// What a client accepts, with a weight for each: the value of Accept or Accept-Encoding (RFC 9110 sections 12.4.2 and
/// 12.5). A plain value; any bytes can be parsed, in time proportional to their number.
///
/// An element that cannot be read counts as not sent: a client that garbles one preference keeps its others.
public struct AcceptHeader: Hashable, Sendable {
  /// One element of the list.
  public struct Element: Hashable, Sendable {
    /// The media range or content coding, in lower case, such as `text/*` or `gzip`.
    public var range: String
    /// The parameters other than the weight, names in lower case, quotes taken off, in the order they were sent.
    public var parameters: [HTTPRequest.Field]
    /// How much it is wanted, in thousandths: 1000 when nothing is said, and 0 for "not this".
    public var weight: Int

    /// An element.
    public init(_ range: String, parameters: [HTTPRequest.Field] = [], weight: Int = 1000) {
      self.range = range
      self.parameters = parameters
      self.weight = weight
    }

    /// The value of a parameter, which is asked for in lower case; nil when it was not sent.
    public func parameter(_ name: String) -> String? { parameters.first { $0.name == name }?.value }
  }

  /// The elements in the order they were sent.
  public let elements: [Element]

  /// The list in the values of all fields of one name, in their order, as RFC 9110 section 5.3 joins them.
  public init(parsing values: [String]) {
    elements = values.flatMap { value in
      Self.split(value.utf8[...], at: UInt8(ascii: ",")).compactMap(Self.element)
    }
  }

  // MARK: Weights

  /// How much a media type is wanted, in thousandths; 0 when it is not accepted, 1000 when nothing was said at all.
  ///
  /// The most specific range decides, the first of equals. A range's parameter speaks only about a type that has one of
  /// that name: `version=1.0.0` leaves another version out, while a parameter unknown here, such as Prometheus's
  /// `escaping`, leaves nothing out.
  public func weight(ofMediaType type: String, parameters: [HTTPRequest.Field] = []) -> Int {
    if elements.isEmpty { return 1000 }
    let anySubtype = type.prefix { $0 != "/" } + "/*"
    var best = (specificity: -1, weight: 0)
    for element in elements {
      let specificity: Int
      switch element.range {
      case "*/*": specificity = 0
      case type: specificity = 2 + Self.agreement(element.parameters, parameters)
      default: specificity = element.range == anySubtype ? 1 : -1
      }
      if Self.contradict(element.parameters, parameters) { continue }
      if specificity > best.specificity { best = (specificity, element.weight) }
    }
    return best.weight
  }

  /// How much a content coding is wanted, in thousandths; 0 when it is not accepted. Without the field every coding is
  /// acceptable to the standard, but only `identity` is safe to send, and so the others have 0 here.
  public func weight(ofCoding coding: String) -> Int {
    // RFC 9110 section 8.4.1.3: x-gzip is gzip.
    if let element = elements.first(where: { $0.range == coding || $0.range == "x-" + coding }) {
      return element.weight
    }
    let rest = elements.first { $0.range == "*" }?.weight
    // identity stays acceptable unless it is excluded; unnamed, it is what is sent when nothing better is wanted.
    if coding == "identity" { return rest == 0 ? 0 : 1 }
    return rest ?? 0
  }

  private static func agreement(_ asked: [HTTPRequest.Field], _ offered: [HTTPRequest.Field]) -> Int {
    asked.count { field in offered.contains { $0.name == field.name } }
  }

  private static func contradict(_ asked: [HTTPRequest.Field], _ offered: [HTTPRequest.Field]) -> Bool {
    asked.contains { field in
      offered.contains { $0.name == field.name && $0.value.lowercased() != field.value.lowercased() }
    }
  }

  // MARK: Parsing

  private static func element(_ text: Substring.UTF8View) -> Element? {
    let parts = split(text, at: UInt8(ascii: ";"))
    guard let range = parts.first.map(trimmed), !range.isEmpty, range.allSatisfy(isRangeByte) else { return nil }
    var element = Element(String(decoding: range, as: UTF8.self).lowercased())
    for part in parts.dropFirst() {
      guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else {
        if trimmed(part).isEmpty { continue }
        return nil
      }
      guard let name = word(part[..<equals])?.lowercased(), let value = word(part[part.index(after: equals)...]) else {
        return nil
      }
      if name == "q" {
        guard let weight = thousandths(value) else { return nil }
        element.weight = weight
      } else {
        element.parameters.append(HTTPRequest.Field(name, value))
      }
    }
    return element
  }

  /// Whether a byte may stand in a token (RFC 9110 section 5.6.2), or between a type and its subtype.
  private static func isRangeByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: "!#$%&'*+-.^_`|~/".utf8.contains(byte)
    }
  }

  /// The pieces between separators that stand outside of quotes.
  private static func split(_ text: Substring.UTF8View, at separator: UInt8) -> [Substring.UTF8View] {
    var pieces: [Substring.UTF8View] = []
    var start = text.startIndex
    var isQuoted = false
    var isEscaped = false
    for index in text.indices {
      let byte = text[index]
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\"") {
        isQuoted.toggle()
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = isQuoted
      } else if byte == separator, !isQuoted {
        pieces.append(text[start..<index])
        start = text.index(after: index)
      }
    }
    pieces.append(text[start...])
    return pieces
  }

  private static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
    let isBlank: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    let front = text.drop(while: isBlank)
    guard let last = front.lastIndex(where: { !isBlank($0) }) else { return front }
    return front[...last]
  }

  /// A token or a quoted string; nil when there are blanks or stray quotes in it.
  private static func word(_ text: Substring.UTF8View) -> String? {
    let text = trimmed(text)
    let quote = UInt8(ascii: "\"")
    guard text.first == quote else {
      let isToken = text.allSatisfy { $0 > 0x20 && $0 != 0x7f && $0 != quote }
      return isToken ? String(decoding: text, as: UTF8.self) : nil
    }
    var bytes: [UInt8] = []
    var isEscaped = false
    var rest = text.dropFirst()
    while let byte = rest.popFirst() {
      if isEscaped {
        bytes.append(byte)
        isEscaped = false
      } else if byte == quote {
        return rest.isEmpty ? String(decoding: bytes, as: UTF8.self) : nil
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else {
        bytes.append(byte)
      }
    }
    return nil
  }

  /// The weight `0`, `0.5`, `1.000`; digits beyond the third are cut, more than one counts as one. nil for no number.
  private static func thousandths(_ text: String) -> Int? {
    let parts = text.utf8.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
    let isDigit: (UInt8) -> Bool = { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard parts.allSatisfy({ $0.allSatisfy(isDigit) }), parts.contains(where: { !$0.isEmpty }) else { return nil }
    if parts[0].contains(where: { $0 != UInt8(ascii: "0") }) { return 1000 }
    var weight = 0
    var digits = parts.dropFirst().first?.makeIterator()
    for _ in 0..<3 { weight = weight * 10 + Int((digits?.next() ?? UInt8(ascii: "0")) - UInt8(ascii: "0")) }
    return weight
  }
}

extension HTTPRequest {
  /// The values of all header fields of that name, whatever its case, in the order they were sent.
  public func headers(_ name: String) -> [String] {
    let wanted = name.lowercased()
    return headers.filter { $0.name.lowercased() == wanted }.map(\.value)
  }

  /// The media types that the client accepts (RFC 9110 section 12.5.1).
  public var accept: AcceptHeader { AcceptHeader(parsing: headers("accept")) }

  /// The content codings that the client accepts (RFC 9110 section 12.5.3).
  public var acceptEncoding: AcceptHeader { AcceptHeader(parsing: headers("accept-encoding")) }
}
