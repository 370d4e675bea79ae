import Testing

@testable import ReachMetrics

@Suite struct NumbersTests {
  @Test(
    "seconds are exact and without trailing zeros",
    arguments: [
      (Int64(0), "0"), (1, "0.000000001"), (1_500_000_000, "1.5"), (-2_000_000_001, "-2.000000001"),
      (100_000_000_000, "100"), (.max, "9223372036.854775807"), (.min, "-9223372036.854775808"),
    ])
  func seconds(nanoseconds: Int64, text: String) {
    var bytes: [UInt8] = []
    bytes.append(seconds: nanoseconds)
    #expect(String(decoding: bytes, as: UTF8.self) == text)
  }

  @Test("whole numbers of every size", arguments: [0, 7, 10, 99, 100, 12_345, UInt64.max])
  func decimal(number: UInt64) {
    var bytes: [UInt8] = []
    bytes.append(decimal: number)
    #expect(String(decoding: bytes, as: UTF8.self) == String(number))
  }
}
