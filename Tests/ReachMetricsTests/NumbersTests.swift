import Testing

@testable import ReachMetrics

@Suite struct NumbersTests {
  private static func text(_ body: (inout ByteWriter) -> Void) -> String {
    String(decoding: ByteWriter.bytes(body), as: UTF8.self)
  }

  @Test(
    "seconds are exact and without trailing zeros",
    arguments: [
      (Int64(0), "0"), (1, "0.000000001"), (1_500_000_000, "1.5"), (-2_000_000_001, "-2.000000001"),
      (100_000_000_000, "100"), (.max, "9223372036.854775807"), (.min, "-9223372036.854775808"),
    ])
  func seconds(nanoseconds: Int64, text: String) {
    #expect(Self.text { $0.append(seconds: nanoseconds) } == text)
  }

  @Test("whole numbers of every size", arguments: [0, 7, 10, 99, 100, 101, 12_345, 1 << 63, UInt64.max])
  func decimal(number: UInt64) {
    #expect(Self.text { $0.append(decimal: number) } == String(number))
  }

  @Test("negative whole numbers", arguments: [-1, -10, Int64.min])
  func negative(number: Int64) {
    #expect(Self.text { $0.append(decimal: number) } == String(number))
  }

  @Test("what finds no room is left out and told, and what is written after a step back is whole again")
  func overflow() {
    let limit = 64
    let bytes = ByteWriter.bytes(limit: limit) { writer in
      writer.append("abcdef")
      let mark = writer.count
      for _ in 0..<40 { writer.append(seconds: 1_500_000_000) }
      #expect(writer.hasOverflowed)
      #expect(writer.count <= limit)
      writer.rollBack(to: mark)
      #expect(!writer.hasOverflowed)
      writer.append(again: 0..<2)
      // Not there yet.
      writer.append(again: 7..<12)
      #expect(!writer.hasOverflowed)
    }
    #expect(String(decoding: bytes, as: UTF8.self) == "abcdefab")
  }
}
