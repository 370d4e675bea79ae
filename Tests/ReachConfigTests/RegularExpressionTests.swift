import ReachConfig
import Testing

@Suite struct RegularExpressionTests {
  private func expand(_ pattern: String, _ text: String, _ template: String) throws -> String? {
    let match = try RegularExpression(pattern).firstMatch(in: Array(text.utf8))
    return match.map { String(decoding: $0.expand(Array(template.utf8)), as: UTF8.self) }
  }

  @Test("a match is found anywhere in the text, and the dollar is its very end")
  func search() throws {
    #expect(try RegularExpression("b+").matches("abbc"))
    #expect(!(try RegularExpression("^b").matches("abbc")))
    #expect(try RegularExpression("c$").matches("abbc"))
    #expect(!(try RegularExpression("c$").matches("abbc\n")))
    #expect(try RegularExpression("").matches(""))
  }

  @Test("groups are put in by number and by name, as Go does it")
  func templates() throws {
    #expect(try expand("PING :([^ ]+)", "PING :abc def", "PONG ${1}") == "PONG abc")
    #expect(try expand("(?P<host>\\w+)\\.(\\w+)", "a.b", "$host-$2-$$-$3-$host2") == "a-b-$--")
    #expect(try expand("(a)|(b)", "b", "[$1][$2][$01]") == "[][b][]")
    #expect(try expand("x", "x", "${1 $ ${} $") == "${1 $ ${} $")
  }

  @Test("bytes that are no UTF-8 are seen as one strange character each")
  func notUTF8() throws {
    let match = try #require(try RegularExpression("^a(.)b$").firstMatch(in: [0x61, 0xff, 0x62]))
    #expect(match.expand(Array("$1".utf8)) == [0xef, 0xbf, 0xbd])
  }

  @Test("what is no regular expression of RE2's is refused by name", arguments: ["(", "(?=a)", "a**", "\\1", "[z-a]"])
  func refused(pattern: String) {
    #expect(throws: ValueError.self) { try RegularExpression(pattern) }
  }

  @Test("no pattern makes a search take more than time in proportion to the text")
  func linear() throws {
    let text = [UInt8](repeating: UInt8(ascii: "a"), count: 100_000)
    #expect(!(try RegularExpression("(a+)+$x|(a|a)*b|(.*)*c$").matches(text)))
  }
}
