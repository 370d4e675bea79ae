import Testing

@testable import GreetingProbe

@Suite struct GreetingTests {
  private func judgement(_ pieces: String..., prefix: String = "") -> Greeting.Judgement {
    var greeting = Greeting(beginningWith: Array(prefix.utf8))
    for piece in pieces { greeting.take(Array(piece.utf8)) }
    return greeting.judgement
  }

  @Test("a greeting is right at the end of its first line, in whatever pieces it comes")
  func lines() {
    #expect(judgement() == .incomplete)
    #expect(judgement("220 mail") == .incomplete)
    #expect(judgement("220 mail", "\r\n") == .right)
    #expect(judgement("SS", "H-2.0-x\n", prefix: "SSH-2.0-") == .right)
    #expect(judgement("S", prefix: "SSH-2.0-") == .incomplete)
  }

  @Test("it is wrong as soon as one octet is, at the end of a line that is too short, and when it has no end")
  func wrong() {
    #expect(judgement("H", prefix: "SSH-2.0-") == .wrong)
    #expect(judgement("SSH\n", prefix: "SSH-2.0-") == .wrong)
    #expect(judgement(String(repeating: "a", count: 511)) == .incomplete)
    #expect(judgement(String(repeating: "a", count: 5000)) == .wrong)
  }

  @Test("what people read of it cannot move a cursor")
  func line() {
    var greeting = Greeting(beginningWith: [])
    greeting.take(Array("220 \u{1b}[2J\u{e9}\r\nmore".utf8))
    #expect(greeting.line == "220 ?[2J??")
  }
}
