import ReachCore
import Testing

@Suite struct DNSNameTests {
  @Test(
    "the text of a name is absolute with the dot at its end or without",
    arguments: [
      ("www.Example.com", "www.Example.com."), ("example.com.", "example.com."), (".", "."),
      (#"a\.b.c"#, #"a\.b.c."#), (#"\097\010x"#, #"a\010x."#), (#"a\ b\@c"#, #"a\ b\@c."#), ("_dmarc.x", "_dmarc.x."),
      ("é.x", #"\195\169.x."#),
    ])
  func text(_ text: String, _ expected: String) {
    #expect(DNSName(text)?.description == expected)
  }

  @Test(
    "what cannot stand in a message is no name",
    arguments: [
      "", "..", ".a", "a..b", #"a\"#, #"\256"#, String(repeating: "a", count: 64),
      String(repeating: "abc.", count: 64),
    ])
  func refused(_ text: String) {
    #expect(DNSName(text) == nil)
  }

  @Test("a label of 63 octets and a name of 255 fit")
  func limits() {
    #expect(DNSName(String(repeating: "a", count: 63))?.wire.count == 65)
    let longest = String(repeating: "abc.", count: 63) + "a"
    #expect(DNSName(longest)?.wire.count == 255)
    #expect(DNSName(longest + "b") == nil)
  }

  @Test("letters are the same in either case, and only letters")
  func sameness() throws {
    let name = try #require(DNSName("WWW.example"))
    #expect(try name.isSame(as: #require(DNSName("www.EXAMPLE."))))
    #expect(try !name.isSame(as: #require(DNSName("wwx.example"))))
    #expect(try !#require(DNSName("[")).isSame(as: #require(DNSName("{"))))
  }

  @Test("types, classes and codes have their names, and numbers where they have none")
  func parameters() {
    #expect(DNSRecordType(name: "NSAP-PTR")?.number == 23)
    #expect(DNSRecordType(name: "TYPE65280")?.description == "TYPE65280")
    for text in ["a", "TYPE", "TYPE01", "TYPE65536", "TYPE+1", ""] { #expect(DNSRecordType(name: text) == nil) }
    #expect(DNSRecordClass(name: "ANY")?.description == "CLASS255")
    #expect(DNSRecordClass(name: "CLASS3")?.description == "CH")
    #expect(DNSResponseCode(name: "NOTIMPL")?.description == "NOTIMP")
    #expect(DNSResponseCode(name: "BADVERS")?.number == 16)
    #expect(DNSResponseCode(15).description == "RCODE15")
    for name in DNSRecordType.allNames { #expect(DNSRecordType(name: name)?.description == name) }
  }
}
