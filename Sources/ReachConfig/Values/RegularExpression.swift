internal import CReachRE2

/// A regular expression in the syntax of RE2, which Go's `regexp` shares (https://github.com/google/re2/wiki/Syntax).
///
/// A search takes time in proportion to the text, whatever the pattern, so that it can be done where nothing may block.
/// Immutable; may be used on any thread. Two of the same pattern are equal.
@safe
public final class RegularExpression: Hashable, Sendable {
  /// A longer pattern is refused.
  public static let longest = 4096

  /// The pattern as it was written.
  public let pattern: String

  nonisolated(unsafe) private let expression: OpaquePointer
  private let groups: Int

  /// Compiles the pattern. Throws what is wrong with it.
  public init(_ pattern: String) throws(ValueError) {
    guard pattern.utf8.count <= Self.longest else {
      throw ValueError(
        "\(quoted(pattern)) is longer than the \(Self.longest) octets that a regular expression may have")
    }
    let octets = pattern.utf8.map { CChar(bitPattern: $0) }
    let why = UnsafeMutableBufferPointer<CChar>.allocate(capacity: 256)
    unsafe why.initialize(repeating: 0)
    defer { unsafe why.deallocate() }
    let compiled = unsafe octets.withUnsafeBufferPointer { octets in
      unsafe CReachRE2_compile(octets.baseAddress, octets.count, why.baseAddress, why.count)
    }
    guard let compiled = unsafe compiled else {
      let words = unsafe why.baseAddress.map { unsafe String(cString: $0) } ?? ""
      throw ValueError("\(quoted(pattern)) is not a regular expression (\(words)); write it in RE2's syntax")
    }
    self.pattern = pattern
    unsafe expression = compiled
    unsafe groups = Int(CReachRE2_groups(compiled))
  }

  deinit { unsafe CReachRE2_free(expression) }

  /// A match in a text, with what its groups took of it.
  public struct Match: Sendable {
    /// The text that was searched, with what was not UTF-8 replaced by U+FFFD.
    let text: [UInt8]
    /// Where the whole match lies, then each group; nil for a group that has no part in it.
    let ranges: [Range<Int>?]
    let expression: RegularExpression
  }

  /// Whether the text holds a match.
  public func matches(_ text: [UInt8]) -> Bool { search(text, groups: 0) != nil }

  /// Whether the text holds a match.
  public func matches(_ text: String) -> Bool { matches(Array(text.utf8)) }

  /// The first match in the text; nil when there is none. What is not UTF-8 in it is searched as U+FFFD, as Go does.
  public func firstMatch(in text: [UInt8]) -> Match? { search(text, groups: groups + 1) }

  private func search(_ text: [UInt8], groups: Int) -> Match? {
    let text = String(validating: text, as: UTF8.self) == nil ? Array(String(decoding: text, as: UTF8.self).utf8) : text
    var bounds = [Int](repeating: -1, count: 2 * groups)
    let found = unsafe text.withUnsafeBufferPointer { text in
      unsafe bounds.withUnsafeMutableBufferPointer { bounds in
        unsafe CReachRE2_match(expression, text.baseAddress, text.count, bounds.baseAddress, Int32(clamping: groups))
      }
    }
    guard found == 1 else { return nil }
    let ranges = (0..<groups).map { group -> Range<Int>? in
      let (start, end) = (bounds[2 * group], bounds[2 * group + 1])
      return start >= 0 && start <= end && end <= text.count ? start..<end : nil
    }
    return Match(text: text, ranges: ranges, expression: self)
  }

  fileprivate func group(named name: ArraySlice<UInt8>) -> Int? {
    let octets = name.map { CChar(bitPattern: $0) }
    let number = unsafe octets.withUnsafeBufferPointer { octets in
      unsafe CReachRE2_group(expression, octets.baseAddress, octets.count)
    }
    return number < 0 ? nil : Int(number)
  }

  /// Whether both have the same pattern.
  public static func == (left: RegularExpression, right: RegularExpression) -> Bool { left.pattern == right.pattern }

  /// By its pattern.
  public func hash(into hasher: inout Hasher) { hasher.combine(pattern) }
}

extension RegularExpression.Match {
  /// The template with `$1`, `${1}`, `$name` and `${name}` replaced by what the groups took, as Go's `Regexp.Expand`
  /// does it: the longest name counts, `$$` is a dollar sign, and a group that is not there is empty.
  public func expand(_ template: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var rest = template[...]
    let dollar = UInt8(ascii: "$")
    while let next = rest.firstIndex(of: dollar) {
      result += rest[..<next]
      rest = rest[next...].dropFirst()
      if rest.first == dollar {
        result.append(dollar)
        rest = rest.dropFirst()
      } else if let (name, end) = Self.name(rest) {
        result += text(ofGroup: name)
        rest = rest[end...]
      } else {
        result.append(dollar)
      }
    }
    return result + rest
  }

  /// The name that the text begins with, in braces or without, and where it ends.
  private static func name(_ text: ArraySlice<UInt8>) -> (name: ArraySlice<UInt8>, end: Int)? {
    let hasBrace = text.first == UInt8(ascii: "{")
    let body = hasBrace ? text.dropFirst() : text
    let name = body.prefix { byte in
      (97...122).contains(byte) || (65...90).contains(byte) || (48...57).contains(byte) || byte == UInt8(ascii: "_")
        || byte >= 0x80
    }
    guard !name.isEmpty else { return nil }
    guard hasBrace else { return (name, name.endIndex) }
    let rest = body[name.endIndex...]
    return rest.first == UInt8(ascii: "}") ? (name, name.endIndex + 1) : nil
  }

  private func text(ofGroup name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let isNumber = name.allSatisfy { (48...57).contains($0) } && (name.count == 1 || name.first != UInt8(ascii: "0"))
    let number = isNumber ? Int(String(decoding: name, as: UTF8.self)) : expression.group(named: name)
    guard let number, ranges.indices.contains(number), let range = ranges[number] else { return [] }
    return text[range]
  }
}
