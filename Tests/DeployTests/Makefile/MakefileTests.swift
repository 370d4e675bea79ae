import Glibc
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// What the README has a stranger type first. The tests run from the build that `make` would make: it is not made again.
@Suite(.timeLimit(.minutes(4))) struct MakefileTests {
  @Test("a clone has all that make needs")
  func clone() async throws {
    try await withEventLoop { loop in
      let folder = try TestFolder()
      let command = "git -c safe.directory='*' clone --quiet '\(Reachd.sources)' reachd && cd reachd && make help"
      let shell = try ChildProcess(["sh", "-c", "cd '\(folder.path)' && \(command)"], on: loop)
      #expect(try await shell.exitStatus() == 0, "\(shell.errors)")
      #expect(shell.output.contains("make run "))
    }
  }

  @Test(
    "make run starts the agent on etc/reachd.yaml, and says which address to open",
    .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"))
  func run() async throws {
    try await withNetworkNamespace { loop, _ in
      let words = ["make", "-C", Reachd.sources, "run", "BUILD=true"]
      let make = try ChildProcess(words, endSignal: SIGTERM, on: loop)
      let client = HTTPClient(address: .loopback, port: 10120, loop: loop)
      try await eventually("the agent", on: loop, state: { make.failure("").description }) {
        guard make.isRunning else { throw make.failure("ended") }
        return (try? await client.get("/-/healthy"))?.status == 200 ? () : nil
      }
      #expect(make.errors.contains("reachd 0.1.0 watches 6 targets; open http://127.0.0.1:10120/"), "\(make.errors)")
      make.send(SIGTERM)
      _ = try await make.exitStatus()
      try await eventually("the agent's end", on: loop) {
        (try? await client.get("/-/healthy", within: .seconds(1))) == nil ? () : nil
      }
    }
  }

  @Test("make format formats")
  func format() async throws {
    try await withEventLoop { loop in
      let folder = try TestFolder()
      try folder.write("let   a=1\n", to: "a.swift")
      let make = try ChildProcess(["make", "-C", Reachd.sources, "format", "SOURCES=\(folder.path)"], on: loop)
      #expect(try await make.exitStatus(within: .seconds(90)) == 0, "\(make.errors)")
      #expect(try textOfFile(folder.path + "/a.swift") == "let a = 1\n")
    }
  }
}
