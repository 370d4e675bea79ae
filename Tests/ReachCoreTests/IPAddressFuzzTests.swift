import Glibc
import ReachCore
import Testing

/// Compares with the C library on texts and addresses made at random, always the same ones.
@Suite struct IPAddressFuzzTests {
  private struct Generator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9e37_79b9_7f4a_7c15
      var value = state
      value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
      value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
      return value ^ (value >> 31)
    }
  }

  /// What inet_pton(3) makes of the text.
  private static func octets(_ text: String, _ family: Int32, count: Int) -> [UInt8]? {
    var octets = [UInt8](repeating: 0, count: count)
    return unsafe inet_pton(family, text, &octets) == 1 ? octets : nil
  }

  private static func check(_ text: String) {
    let ours = try? IPAddress(parsing: text)
    if text.utf8.contains(UInt8(ascii: ":")) {
      // Ours alone knows zones, and makes IPv4 of a mapped address.
      guard !text.contains("%") else { return }
      let theirs = octets(text, AF_INET6, count: 16)
      #expect(ours == theirs.flatMap { IPAddress(octets: $0) }, "\(text)")
    } else {
      #expect(ours?.octets == octets(text, AF_INET, count: 4), "\(text)")
    }
    if let ours { #expect((try? IPAddress(parsing: ours.description)) == ours, "\(text)") }
  }

  @Test("texts are taken for the addresses that inet_pton takes them for", .timeLimit(.minutes(4)))
  func texts() {
    var generator = Generator(state: 3)
    let pieces = [
      "0", "1", "10", "255", "256", "00", "ffff", "FE80", "abcd1", "db8", ".", ":", "::", ":", ".", "x", "-",
    ]
    for _ in 0..<20_000 {
      let count = Int.random(in: 1...17, using: &generator)
      Self.check((0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined())
    }
  }

  @Test("damaged addresses are taken for what inet_pton takes them for", .timeLimit(.minutes(4)))
  func damaged() {
    var generator = Generator(state: 4)
    let originals = [
      "192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1", "1:2:3:4:5:6:7:8", "fe80::1", "::", "64:ff9b::1.2.3.4",
    ]
    let alphabet = Array("0123456789abcdefFx.:-% ".utf8)
    for _ in 0..<20_000 {
      var bytes = Array((originals.randomElement(using: &generator) ?? "").utf8)
      for _ in 0..<Int.random(in: 1...2, using: &generator) {
        let place = Int.random(in: 0...bytes.count, using: &generator)
        let byte = alphabet.randomElement(using: &generator) ?? 0
        switch Int.random(in: 0..<3, using: &generator) {
        case 0 where place < bytes.count: bytes[place] = byte
        case 1 where place < bytes.count: bytes.remove(at: place)
        default: bytes.insert(byte, at: place)
        }
      }
      Self.check(String(decoding: bytes, as: UTF8.self))
    }
  }

  @Test("addresses are written as inet_ntop reads them back, in no more letters", .timeLimit(.minutes(4)))
  func descriptions() {
    var generator = Generator(state: 5)
    for _ in 0..<10_000 {
      // Zeros are common in addresses, and the interesting part of writing them.
      let octets = (0..<8).flatMap { _ -> [UInt8] in
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: [UInt8.random(in: 0...255, using: &generator), UInt8.random(in: 0...255, using: &generator)]
        case 1: [0, UInt8.random(in: 0...255, using: &generator)]
        default: [0, 0]
        }
      }
      guard let address = IPAddress(octets: octets), address.family == .ipv6 else { continue }
      let text = address.description
      #expect(Self.octets(text, AF_INET6, count: 16) == octets, "\(text)")
      var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
      _ = unsafe inet_ntop(AF_INET6, octets, &buffer, socklen_t(buffer.count))
      let theirs = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      // The C library still writes what looks like a compatible address with dots.
      if !theirs.contains(".") { #expect(text == theirs) }
    }
  }
}
