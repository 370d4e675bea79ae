import ReachTestSupport
import Testing

@testable import reachd

/// docs/commands.md, of which the manual page is made, holds what the program has: no less and no more.
@Suite struct ManualTests {
  private static let manual = "docs/commands.md"

  @Test("the manual has the sections of a manual page, in their order")
  func sections() throws {
    let heads = try Repository.text(Self.manual).split(separator: "\n").filter { $0.hasPrefix("# ") }
      .map { String($0.dropFirst(2)) }
    #expect(
      heads == [
        "NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "EXIT STATUS", "SIGNALS", "ENVIRONMENT", "FILES", "SEE ALSO",
      ])
  }

  @Test("the manual has every command, in the order of the usage, and no other")
  func commands() throws {
    #expect(try Self.commands().map(\.name) == CommandSpec.all.map(\.name))
  }

  @Test("the manual explains every option of a command, and no other", arguments: CommandSpec.all.map(\.name))
  func options(name: String) throws {
    let spec = try #require(CommandSpec.all.first { $0.name == name })
    let section = try #require(try Self.commands().first { $0.name == name }?.text)
    let explained = section.matches(of: #/\n- `(--[a-z-]+)`(?: \*([A-Z]+)\*)?: /#)
    #expect(explained.map { String($0.output.1) }.sorted() == spec.options.map(\.flag).sorted())
    for match in explained {
      let option = spec.options.first { $0.flag == match.output.1 }
      #expect(match.output.2.map(String.init) == option?.value, "\(match.output.1)")
    }
    // What is written elsewhere in the section, in the synopsis above all, must exist too.
    let mentioned = Set(section.matches(of: /`(--[a-z-]+)/).map { String($0.output.1) })
    #expect(mentioned.subtracting(["--listen"]) == Set(spec.options.map(\.flag)).subtracting(["--listen"]))
    #expect(section.hasPrefix("\n\n`reachd \(name)`"), "the synopsis comes first")
    if let arguments = spec.arguments {
      #expect(section.contains("*\(arguments.prefix { $0 != "." })*"), "the synopsis names the arguments")
    }
    for option in spec.options {
      if case .words(let words) = option.kind { for word in words { #expect(section.contains("`\(word)`")) } }
    }
  }

  @Test("the manual has every exit status with its meaning", arguments: CommandSpec.all.map(\.name))
  func exits(name: String) throws {
    let spec = try #require(CommandSpec.all.first { $0.name == name })
    let text = try Repository.text(Self.manual).replacing(/\n {2}/, with: " ")
    let section = try #require(Self.part(of: text, from: "\n# EXIT STATUS\n", to: "\n# "))
    let line = section.split(separator: "\n").first { $0.hasPrefix("- `reachd \(name)`: ") }
    let exits = spec.exits.map { "\($0.status) \($0.meaning)" }.joined(separator: ", ")
    #expect(line == "- `reachd \(name)`: \(exits).")
    #expect(section.contains(" \(Program.usageStatus) "))
    #expect(section.matches(of: /\n- `reachd ([a-z]+)`/).count == CommandSpec.all.count)
  }

  @Test("the usage tells every exit status too", arguments: CommandSpec.all.map(\.name))
  func usage(name: String) throws {
    let spec = try #require(CommandSpec.all.first { $0.name == name })
    for exit in spec.exits { #expect(Usage.text(for: name).contains("\(exit.status) \(exit.meaning)")) }
  }

  private static func commands() throws -> [(name: String, text: String)] {
    let text = try Repository.text(manual)
    let section = try #require(part(of: text, from: "\n# COMMANDS\n", to: "\n# "))
    return section.split(separator: "\n## reachd ").dropFirst(section.hasPrefix("\n## reachd ") ? 0 : 1).map { part in
      let name = part.prefix { $0 != "\n" }
      return (String(name), String(part.dropFirst(name.count)))
    }
  }

  private static func part(of text: String, from start: String, to end: String) -> String? {
    let parts = text.split(separator: start, maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    return String(parts[1].split(separator: end, maxSplits: 1, omittingEmptySubsequences: false)[0])
  }
}
