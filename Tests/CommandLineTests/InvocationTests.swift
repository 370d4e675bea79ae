import Testing

@testable import reachd

@Suite struct InvocationTests {
  @Test("options are read in both forms, and operands wherever they stand")
  func readsOptions() throws {
    let invocation = try Invocation.parse([
      "probe", "a", "--timeout=2s", "b", "--config", "f.yaml", "--json", "--", "-c",
    ])
    let expected = Arguments(
      options: ["--timeout": ["2s"], "--config": ["f.yaml"], "--json": [""]], operands: ["a", "b", "-c"])
    #expect(invocation == .command("probe", expected))
  }

  @Test("--listen may be given several times")
  func repeats() throws {
    let invocation = try Invocation.parse(["run", "--listen", ":1", "--listen", ":2"])
    #expect(invocation == .command("run", Arguments(options: ["--listen": [":1", ":2"]])))
  }

  @Test(
    "help and version win over everything else",
    arguments: [
      (["--help"], Invocation.help(command: nil)), (["-h"], .help(command: nil)), (["help"], .help(command: nil)),
      (["help", "probe"], .help(command: "probe")), (["probe", "--help"], .help(command: "probe")),
      (["--version"], .version),
    ])
  func helps(words: [String], expected: Invocation) throws {
    #expect(try Invocation.parse(words) == expected)
  }

  @Test(
    "a command line that cannot be understood says why in one line",
    arguments: [
      ([], "a command is needed"),
      (["fly"], "there is no command 'fly'"),
      (["--fly"], "there is no option '--fly'"),
      (["run", "--fly"], "run has no option '--fly'"),
      (["run", "--config"], "--config needs FILE"),
      (["run", "--config", "a", "--config", "b"], "--config is given twice"),
      (["probe", "--json=yes", "a"], "--json takes no value"),
      (["check", "a.yaml"], "check takes no argument, but 'a.yaml' is given"),
      (["probe"], "probe needs TARGET..."),
    ] as [([String], String)])
  func refuses(words: [String], message: String) {
    let error = #expect(throws: UsageError.self) { try Invocation.parse(words) }
    #expect(error?.message == message)
  }

  @Test("the usage of every command names each of its options", arguments: CommandSpec.all.map(\.name))
  func explains(name: String) throws {
    let spec = try #require(CommandSpec.all.first { $0.name == name })
    let text = Usage.text(for: name)
    for option in spec.options { #expect(text.contains(option.flag)) }
    #expect(Usage.text(for: nil).contains(name))
  }
}
