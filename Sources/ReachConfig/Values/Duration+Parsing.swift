extension Duration {
  /// Reads a duration as the configuration writes it: numbers with a unit (`ms`, `s`, `m` or `h`), joined, such as
  /// `1m30s`; each may have decimals, such as `1.5s`.
  ///
  /// Never negative; throws for a number without a unit, and for more than a hundred years. What is finer than a
  /// nanosecond is cut off.
  public init(parsing text: String) throws(ValueError) {
    var rest = Array(text.utf8)[...]
    guard !rest.isEmpty else { throw ValueError("a duration is empty; write one such as 15s") }
    if rest.first == UInt8(ascii: "-") {
      throw ValueError("\(quoted(text)) is negative; write a duration such as 15s")
    }
    let scalar = CoreScalar(text)
    if scalar == .integer || scalar == .float {
      let isDecimal = rest.allSatisfy { (48...57).contains($0) || $0 == UInt8(ascii: ".") }
      throw ValueError(
        isDecimal
          ? "\(quoted(text)) has no unit; write \(text.hasPrefix(".") ? "0" : "")\(text.prefix(20))s for seconds"
          : "\(quoted(text)) is not a duration; write one such as 15s")
    }
    if scalar == .ambiguous {
      throw ValueError("\(quoted(text)) is ambiguous; write a duration with its units, such as 1m30s")
    }
    var nanoseconds: Int64 = 0
    while !rest.isEmpty {
      guard let part = Self.takePart(&rest) else {
        throw ValueError("\(quoted(text)) is not a duration; write a number with ms, s, m or h, such as 15s or 1m30s")
      }
      let (sum, overflow) = nanoseconds.addingReportingOverflow(part)
      guard !overflow, sum <= Self.longest else {
        throw ValueError("\(quoted(text)) is longer than a hundred years; write a shorter duration")
      }
      nanoseconds = sum
    }
    self = .nanoseconds(nanoseconds)
  }

  /// A hundred years of 365.25 days.
  private static let longest: Int64 = 36_525 * 86_400 * 1_000_000_000

  /// Takes `<number><unit>` off the front: its nanoseconds, or `Int64.max` when it is too long; nil when it is none.
  private static func takePart(_ rest: inout ArraySlice<UInt8>) -> Int64? {
    let whole = takeDigits(&rest)
    var fraction: ArraySlice<UInt8> = []
    if rest.first == UInt8(ascii: ".") {
      rest = rest.dropFirst()
      fraction = takeDigits(&rest)
      guard !fraction.isEmpty else { return nil }
    }
    guard !whole.isEmpty else { return nil }
    let unit = rest.prefix { (97...122).contains($0) }
    rest = rest.dropFirst(unit.count)
    let scale: Int64
    switch String(decoding: unit, as: UTF8.self) {
    case "ms": scale = 1_000_000
    case "s": scale = 1_000_000_000
    case "m": scale = 60_000_000_000
    case "h": scale = 3_600_000_000_000
    default: return nil
    }
    var count: Int64 = 0
    for digit in whole {
      let (tens, overflow) = count.multipliedReportingOverflow(by: 10)
      let (sum, carried) = tens.addingReportingOverflow(Int64(digit - 48))
      guard !overflow, !carried else { return .max }
      count = sum
    }
    var (total, overflow) = count.multipliedReportingOverflow(by: scale)
    guard !overflow else { return .max }
    var place = scale
    for digit in fraction {
      place /= 10
      (total, overflow) = total.addingReportingOverflow(place * Int64(digit - 48))
      guard !overflow else { return .max }
    }
    return total
  }

  private static func takeDigits(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let digits = rest.prefix { (48...57).contains($0) }
    rest = rest.dropFirst(digits.count)
    return digits
  }
}

extension Duration {
  /// The duration as the configuration writes it, to the millisecond, such as `1m30s`.
  var text: String {
    var milliseconds = components.seconds &* 1000 &+ components.attoseconds / 1_000_000_000_000_000
    guard milliseconds > 0 else { return "0s" }
    var text = ""
    for (unit, length) in [("h", Int64(3_600_000)), ("m", 60_000), ("s", 1000), ("ms", 1)] where milliseconds >= length
    {
      text += "\(milliseconds / length)\(unit)"
      milliseconds %= length
    }
    return text
  }
}
