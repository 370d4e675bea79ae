import Testing

@testable import ReachHTTP

@Suite struct InheritedSocketsTests {
  @Test(
    "descriptors are taken for this process alone, and only as many as there are",
    arguments: [
      ("77", "2", nil, ["3", "4"]), ("77", "2", "web:admin", ["3 web", "4 admin"]), ("77", "2", "web", ["3 web", "4"]),
      ("77", "3", ":b:", ["3", "4 b", "5"]), ("78", "2", nil, []), (nil, "2", nil, []), ("77", nil, nil, []),
      ("77", "0", nil, []), ("77", "-1", nil, []), ("77", "two", nil, []), ("", "", "", []), ("77", "2 ", nil, []),
      ("77", "99999999999999", nil, []),
    ] as [(String?, String?, String?, [String])])
  func numbers(process: String?, count: String?, names: String?, expected: [String]) {
    let numbered = InheritedSockets.numbered(process: process, count: count, names: names, ownProcess: 77)
    #expect(numbered.map { $0.name.isEmpty ? "\($0.number)" : "\($0.number) \($0.name)" } == expected)
  }

  @Test("no number of descriptors that anybody writes is too much")
  func many() {
    let numbered = InheritedSockets.numbered(
      process: "77", count: "2147483647", names: String(repeating: ":", count: 10_000), ownProcess: 77)
    #expect(numbered.count == 1024 && numbered.last?.number == 1026)
  }

  @Test("where the environment says nothing there is nothing")
  func none() { #expect(InheritedSockets.take().members.isEmpty) }
}
