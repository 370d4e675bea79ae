import ReachConfig
import ReachCore
import Testing

/// Files that were damaged at random, always in the same way: whatever comes in, an answer comes out.
@Suite struct FuzzTests {
  /// A generator with a fixed start (SplitMix64), so that a failure comes again.
  struct Generator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9e37_79b9_7f4a_7c15
      var value = state
      value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
      value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
      return value ^ (value >> 31)
    }
  }

  private static let pieces: [[UInt8]] = [
    "&a ", "*a", "<<: ", "- ", ": ", "{", "}", "[", "]", "\"", "'", "\n", "\t", "  ", "#", "---\n", "...\n", "!!str ",
    "!x ",
    "|\n", ">-\n", "? ", "~", "0100", "1:30", ".inf", "-1", "999999999999999999999", "::1:80", "[::1]:80", "0x", "%",
    "@",
    "https://", "\u{feff}", "\r", "\u{85}", "ü", "\u{2028}", "15", "1d", "a: b", ",",
  ].map { Array($0.utf8) }

  static func damaged(_ original: [UInt8], _ generator: inout Generator) -> [UInt8] {
    var bytes = original
    for _ in 0..<Int.random(in: 1...4, using: &generator) {
      guard !bytes.isEmpty else { break }
      let place = Int.random(in: 0..<bytes.count, using: &generator)
      let end = min(bytes.count, place + Int.random(in: 1...24, using: &generator))
      switch Int.random(in: 0..<5, using: &generator) {
      case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
      case 1: bytes.removeSubrange(place..<end)
      case 2: bytes.insert(contentsOf: bytes[place..<end], at: Int.random(in: 0...bytes.count, using: &generator))
      case 3: bytes.insert(contentsOf: pieces.randomElement(using: &generator) ?? [], at: place)
      default: bytes.replaceSubrange(place..<end, with: pieces.randomElement(using: &generator) ?? [])
      }
    }
    return bytes
  }

  @Test("damaged files are answered, with problems in order and within the file", .timeLimit(.minutes(4)))
  func files() {
    var originals = BadFileTests.names.map { ConfigurationFiles.bytes("\(ConfigurationFiles.bad)/\($0).yaml") }
    originals += ["documented", "merges", "scalars", "targets"].map {
      ConfigurationFiles.bytes("\(ConfigurationFiles.good)/\($0).yaml")
    }
    var generator = Generator(state: 1)
    for original in originals where original.count < 8192 {
      for _ in 0..<10 {
        let bytes = Self.damaged(original, &generator)
        let problems = ConfigurationFiles.resolve(bytes).problems
        let places = problems.map { [$0.line, $0.column] }
        #expect(places.allSatisfy { $0.allSatisfy { $0 >= 1 } })
        #expect(!zip(places, places.dropFirst()).contains { $1.lexicographicallyPrecedes($0) })
      }
    }
  }

  @Test("damaged values are answered", .timeLimit(.minutes(4)))
  func values() {
    let originals = [
      "1m30s", "example.com:443", "[2001:db8::1]:443", "unix:/run/a.sock", "192.0.2.1", "bücher.example",
    ]
    var generator = Generator(state: 2)
    for original in originals {
      for _ in 0..<500 {
        let text = String(decoding: Self.damaged(Array(original.utf8), &generator), as: UTF8.self)
        _ = try? Duration(parsing: text)
        _ = try? HostName(parsing: text)
        _ = try? ListenAddress(parsing: text)
      }
    }
  }

  @Test("files made to be slow are answered all the same", .timeLimit(.minutes(4)))
  func slow() {
    let count = 20_000
    let files: [String] = [
      String(repeating: "[", count: count), String(repeating: "- ", count: count),
      String(repeating: "? ", count: count),
      String(repeating: "{a: ", count: count), "targets: [" + String(repeating: "a,", count: count) + "]",
      "targets: {" + (0..<count).map { "k\($0): v, " }.joined() + "}",
      "targets:\n- host: a\n  labels: {" + (0..<count).map { "k\($0): v, " }.joined() + "}",
      "backends: {" + (0..<count).map { "k\($0): {}, " }.joined() + "}",
      (0..<count).map { "x\($0): 1\n" }.joined(),
      "x-t: &t {host: a}\ntargets: [" + String(repeating: "*t,", count: count) + "]",
      "x-m: &m {a: 1, b: 2}\ntargets: [{<<: [" + String(repeating: "*m,", count: count) + "]}]",
      "a: " + String(repeating: "b", count: 1 << 20), "a: \"" + String(repeating: "\\", count: 1 << 20),
      (0..<count).map { "x-\($0): &a\($0) 1\n" }.joined(), String(repeating: "&a ", count: count),
      String(repeating: "!a ", count: count), String(repeating: "\t", count: count),
      String(repeating: "a\n", count: count),
    ]
    for file in files { _ = ConfigurationFiles.resolve(file) }
  }
}
