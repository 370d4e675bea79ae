/// A time in UTC as a calendar and a clock show it, without the C library's time zones.
///
/// The proleptic Gregorian calendar, from its rule: 365 days a year and a leap day in each fourth year, save the
/// hundredth ones that are no four hundredth.
public struct CivilTime: Hashable, Sendable {
  /// The year.
  public let year: Int
  /// 1 to 12.
  public let month: Int
  /// 1 to 31.
  public let day: Int
  /// 0 to 23.
  public let hour: Int
  /// 0 to 59.
  public let minute: Int
  /// 0 to 59; a leap second is not told apart.
  public let second: Int
  /// 0 to 999,999,999.
  public let nanosecond: Int

  /// The time that many nanoseconds after 1970-01-01 00:00 UTC, or before when negative.
  public init(nanosecondsSinceEpoch time: Int64) {
    let (seconds, nanosecond) = Self.floorDivision(time, 1_000_000_000)
    let (days, rest) = Self.floorDivision(seconds, 86_400)
    self.nanosecond = nanosecond
    hour = rest / 3600
    minute = rest / 60 % 60
    second = rest % 60
    // Count from 1 March of year 0, so that a leap day is the last of its year; 719,468 days lie between.
    let (era, dayOfEra) = Self.floorDivision(days + 719_468, 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    year = Int(era) * 400 + yearOfEra + (month <= 2 ? 1 : 0)
  }

  /// RFC 3339, UTC, with microseconds: `2026-01-31T09:05:00.000123Z`.
  public var rfc3339: String {
    var bytes: [UInt8] = []
    append(date: &bytes)
    bytes.append(UInt8(ascii: "T"))
    append(clock: &bytes)
    bytes.append(UInt8(ascii: "."))
    Self.append(nanosecond / 1000, digits: 6, to: &bytes)
    bytes.append(UInt8(ascii: "Z"))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// For people: `2026-01-31 09:05:00Z`.
  var short: String {
    var bytes: [UInt8] = []
    append(date: &bytes)
    bytes.append(UInt8(ascii: " "))
    append(clock: &bytes)
    bytes.append(UInt8(ascii: "Z"))
    return String(decoding: bytes, as: UTF8.self)
  }

  private func append(date bytes: inout [UInt8]) {
    Self.append(year, digits: 4, to: &bytes)
    bytes.append(UInt8(ascii: "-"))
    Self.append(month, digits: 2, to: &bytes)
    bytes.append(UInt8(ascii: "-"))
    Self.append(day, digits: 2, to: &bytes)
  }

  private func append(clock bytes: inout [UInt8]) {
    Self.append(hour, digits: 2, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    Self.append(minute, digits: 2, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    Self.append(second, digits: 2, to: &bytes)
  }

  private static func append(_ number: Int, digits: Int, to bytes: inout [UInt8]) {
    let text = String(number)
    bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: max(0, digits - text.utf8.count)))
    bytes.append(contentsOf: text.utf8)
  }

  private static func floorDivision(_ value: Int64, _ divisor: Int64) -> (quotient: Int64, remainder: Int) {
    let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, Int(remainder + divisor)) : (quotient, Int(remainder))
  }
}
