import Glibc
import ReachCore
import ReachIO
import ReachTestSupport
import Testing

/// The staging that other tests rest on.
@Suite(.enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"))
struct NetworkStageTests {
  @Test("a namespace begins with lo alone, and is not the one of other threads", .timeLimit(.minutes(4)))
  func isolation() async throws {
    let (inside, name) = try await withNetworkNamespace { _, stage in
      try stage.mountSysfs()
      return (try stage.host.run(["ip", "-br", "link"]), try stage.host.run(["ls", "/sys/class/net"]))
    }
    #expect(inside.split(separator: "\n").count == 1)
    #expect(inside.hasPrefix("lo "))
    #expect(name == "lo\n")
  }

  @Test("a server behind a router is reached through it over both families", .timeLimit(.minutes(4)))
  func routerAndServer() async throws {
    let outcomes = try await withNetworkNamespace { loop, stage in
      let (_, server) = try stage.stageRouterAndServer()
      var outcomes: [WaitOutcome] = []
      for address in [StageAddress.server, StageAddress.server6] {
        let port = try server.perform { () throws(SystemError) in try TestPort(.open, on: address) }
        let socket = try connecting(to: port)
        outcomes.append(try await loop.wait(on: socket.number, for: .writable, until: .distantFuture))
      }
      return outcomes
    }
    #expect(outcomes == [.ready(.writable), .ready(.writable)])
  }

  @Test("open, closed and full ports behave so", .timeLimit(.minutes(4)))
  func ports() async throws {
    let outcomes = try await withEventLoop { loop in
      var outcomes: [WaitOutcome] = []
      for behaviour in [TestPort.Behaviour.open, .closed, .full] {
        for address in [IPAddress.loopback, .loopback6] {
          let port = try TestPort(behaviour, on: address)
          let socket = try connecting(to: port)
          let deadline = loop.now().advanced(by: .milliseconds(50))
          outcomes.append(try await loop.wait(on: socket.number, for: .writable, until: deadline))
        }
      }
      return outcomes
    }
    let refused = WaitOutcome.ready([.writable, .error, .hangUp])
    #expect(outcomes == [.ready(.writable), .ready(.writable), refused, refused, .deadline, .deadline])
  }

  @Test("a file is replaced for the stage's thread alone", .timeLimit(.minutes(4)))
  func replacedFile() async throws {
    let text = try await withNetworkNamespace { _, stage in
      try stage.replaceFile("/etc/hosts", with: "192.0.2.7 replaced.example\n")
      return try stage.host.run(["cat", "/etc/hosts"])
    }
    #expect(text == "192.0.2.7 replaced.example\n")
    #expect(try runProgram(["cat", "/etc/hosts"]).output != text)
  }

  @Test("a failing command is reported with what it said", .timeLimit(.minutes(4)))
  func failingCommand() async throws {
    await #expect(throws: ProgramFailure.self) {
      try await withNetworkNamespace { _, stage in try stage.ip("link set nothere up") }
    }
  }
}
