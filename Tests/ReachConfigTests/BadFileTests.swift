import Glibc
import ReachConfig
import Testing

/// Each file in `Bad` breaks a rule; the file beside it has what must be said of it, a line per problem.
@Suite struct BadFileTests {
  static let names = ConfigurationFiles.names(in: ConfigurationFiles.bad, ending: ".yaml")

  @Test("a file that breaks a rule is refused with exactly these words", arguments: names)
  func refused(name: String) {
    let result = ConfigurationFiles.resolve(
      ConfigurationFiles.bytes("\(ConfigurationFiles.bad)/\(name).yaml"), file: "F")
    let found = result.problems.map { "\($0.description.dropFirst(2))\n" }.joined()
    let expected = String(
      decoding: ConfigurationFiles.bytes("\(ConfigurationFiles.bad)/\(name).expected"), as: UTF8.self)
    #expect(found == expected)
    #expect(result.configuration == nil)
  }

  @Test("every bad file has its expectation, and the other way round")
  func pairs() {
    #expect(Self.names.count > 90)
    #expect(Self.names == ConfigurationFiles.names(in: ConfigurationFiles.bad, ending: ".expected"))
  }
}
