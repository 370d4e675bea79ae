import Glibc
import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// `reachd completion`, by the shells themselves: each runs at a terminal, is typed to, and completes.
@Suite(.enabled(if: areShellsThere, "needs Debian's packages bash, zsh, fish and python3"), .timeLimit(.minutes(3)))
struct CompletionTests {
  enum Shell: String, CaseIterable, Sendable {
    case bash, zsh, fish
  }

  /// What is typed, up to the tabulator, and the words that the program is then started with.
  private static let typed: [(String, [String])] = [
    ("reachd pro", ["probe"]),
    ("reachd completion f", ["completion", "fish"]),
    ("reachd help hi", ["help", "history"]),
    ("reachd run --log-l", ["run", "--log-level"]),
    ("reachd run --log-level w", ["run", "--log-level", "warning"]),
    ("reachd run --log-format=l", ["run", "--log-format=logfmt"]),
    ("reachd run --listen :1 --list", ["run", "--listen", ":1", "--listen"]),
    ("reachd check --config reachd.y", ["check", "--config", "reachd.yaml"]),
    ("reachd check --blackbox=reachd.y", ["check", "--blackbox=reachd.yaml"]),
    (
      "reachd history --config reachd.yaml --target primary-d",
      ["history", "--config", "reachd.yaml", "--target", "primary-db"]
    ),
    ("reachd probe --config=reachd.yaml web.exa", ["probe", "--config=reachd.yaml", "web.example:443"]),
    ("reachd probe --config=reachd.yaml web.example:4", ["probe", "--config=reachd.yaml", "web.example:443"]),
    (#"reachd probe --config reachd.yaml a\ b"#, ["probe", "--config", "reachd.yaml", "a b; c$d"]),
  ]

  /// A folder with a configuration, and a program `reachd` in front of the real one that says how it was called.
  private static func stage() throws -> TestFolder {
    let folder = try TestFolder()
    try folder.write(
      """
      targets:
        - { name: primary-db, address: 192.0.2.1 }
        - web.example:443
        - { name: "a b; c$d", address: 192.0.2.2 }

      """, to: "reachd.yaml")
    let program = try folder.write(
      """
      #!/usr/bin/env python3
      import json, os, sys
      if sys.argv[1:2] == ["completion"] and sys.argv[2] in ("bash", "zsh", "targets") or sys.argv[2:4] == ["fish", "script"]:
        os.execv("\(Reachd.program)", ["reachd", "completion", sys.argv[2]] + [word for word in sys.argv[3:] if word != "script"])
      print("called:" + json.dumps(sys.argv[1:]), flush=True)

      """, to: "reachd")
    _ = try runProgram(["chmod", "755", program])
    return folder
  }

  /// Types lines to a shell at a terminal, a tabulator and a line feed behind each, once it is ready for it.
  private static let typist = """
    import json, os, pty, select, sys, time
    folder, shell = sys.argv[1:3]
    arguments = {
      "bash": ["bash", "--norc", "--noprofile", "-i"],
      "zsh": ["zsh", "-f", "-i"],
      "fish": ["fish", "--no-config", "--interactive"],
    }[shell]
    process, terminal = pty.fork()
    if process == 0:
      os.chdir(folder)
      environment = {"PATH": folder + ":/usr/bin:/bin", "TERM": "dumb", "HOME": folder, "LANG": "C.UTF-8"}
      os.execvpe(arguments[0], arguments, environment)
    seen = b""
    def until(mark):
      # The mark is written in two parts where it is typed, so that only what the shell prints has it whole.
      global seen
      end = time.monotonic() + 40
      while mark not in seen:
        if time.monotonic() > end or not select.select([terminal], [], [], end - time.monotonic())[0]:
          sys.exit("waited in vain for %r in %r" % (mark, seen))
        seen += os.read(terminal, 65536)
      before, seen = seen.split(mark, 1)
      return before
    def type(text):
      os.write(terminal, text.encode())
    load = {
      "bash": "eval \\"$(reachd completion bash)\\"",
      "zsh": "autoload -Uz compinit; compinit -u -D; zstyle ':completion:*' menu no; eval \\"$(reachd completion zsh)\\"",
      "fish": "reachd completion fish script | source",
    }[shell]
    type(load + "; echo read'y'0\\n")
    until(b"ready0")
    for number, line in enumerate(json.loads(sys.argv[3]), 1):
      type(line + "\\t\\n")
      before = until(b"called:")
      print(until(b"\\n").decode().strip())
    """

  @Test("commands, options, values, files and names of targets are completed", arguments: Shell.allCases)
  func completes(shell: Shell) async throws {
    let folder = try Self.stage()
    let lines = Self.typed.map(\.0)
    var json = JSONWriter()
    json.beginArray()
    for line in lines { json.value(line) }
    json.endArray()
    let quoted = String(decoding: json.bytes, as: UTF8.self)
    let result = try runProgram(["python3", "-c", Self.typist, folder.path, shell.rawValue, quoted])
    try #require(result.isSuccess, "\(result.output)")
    let answers = result.output.split(separator: "\n").map(String.init)
    try #require(answers.count == lines.count, "\(result.output)")
    for (typed, answer) in zip(Self.typed, answers) {
      #expect(try JSON(parsing: answer).elements.compactMap(\.text) == typed.1, "\(typed.0)")
    }
  }

  @Test("the names of targets are printed as they are, and a broken configuration says why there are none")
  func targets() async throws {
    let folder = try Self.stage()
    let named = try await Reachd.run("completion", "targets", "--config", folder.path + "/reachd.yaml")
    #expect(named.status == 0 && named.output == "primary-db\nweb.example:443\na b; c$d\n", "\(named)")
    let broken = try folder.write("targets: [256.1.1.1]\n", to: "broken.yaml")
    let refused = try await Reachd.run("completion", "targets", "--config", broken)
    #expect(refused.status == 1 && refused.output == "" && refused.errors.hasPrefix(broken + ":1:"), "\(refused)")
    let other = try await Reachd.run("completion", "csh")
    #expect(other.status == 64 && other.errors.contains("bash, zsh, fish"), "\(other)")
  }
}

private let areShellsThere =
  TestRequirements.areAllRequired
  || ["bash", "zsh", "fish", "python3"].allSatisfy { unsafe access("/usr/bin/\($0)", X_OK) == 0 }
