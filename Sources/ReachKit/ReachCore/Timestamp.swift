/// A point of the wall clock as RFC 3339 writes it, in UTC with microseconds: `2026-01-02T03:04:05.678901Z`.
public struct Timestamp: Hashable, Sendable, CustomStringConvertible {
  /// Nanoseconds since 1970-01-01 00:00 UTC.
  public let nanoseconds: Int64

  /// The point that many nanoseconds after 1970-01-01 00:00 UTC.
  public init(nanosecondsSinceEpoch nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The RFC 3339 form.
  public var description: String {
    let seconds = floorDivide(nanoseconds, 1_000_000_000)
    let microseconds = (nanoseconds - seconds * 1_000_000_000) / 1_000
    let days = floorDivide(seconds, 86_400)
    let second = seconds - days * 86_400
    let (year, month, day) = civil(fromDays: days)
    return "\(pad(year, 4))-\(pad(month, 2))-\(pad(day, 2))T"
      + "\(pad(second / 3_600, 2)):\(pad(second / 60 % 60, 2)):\(pad(second % 60, 2)).\(pad(microseconds, 6))Z"
  }

  private func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
    let quotient = value / divisor
    return value % divisor < 0 ? quotient - 1 : quotient
  }

  /// The proleptic Gregorian date of a day number, by counting in eras of 400 years that begin on a 1 March.
  private func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let era = floorDivide(shifted, 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
  }

  private func pad(_ value: Int64, _ width: Int) -> String {
    let text = String(value)
    return String(repeating: "0", count: max(0, width - text.count)) + text
  }
}
