import Glibc
import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// What the running agent serves, and where, as seen by curl and promtool.
@Suite(
  .enabled(if: areClientsThere, "needs Debian's packages curl and prometheus"), .timeLimit(.minutes(4)))
struct EndpointTests {
  static let configuration = """
    targets:
      - 127.0.0.1
      - { name: "say \\"hi\\"", interface: lo, interval: 2s, labels: { note: "a: b # c" } }
    """

  @Test("the configuration that is shown loads again as it stands, and comes to the same")
  func effective() async throws {
    let (shown, check, again) = try await withEventLoop { loop in
      let agent = try await RunningAgent.start(Self.configuration, on: loop)
      let shown = try await agent.client.get("/config")
      let folder = try TestFolder()
      let file = try folder.write(shown.body, to: "shown.yaml")
      let check = try await Reachd.run(["check", "--config", file], on: loop)
      let other = try await RunningAgent.start(shown.body, on: loop)
      let again = try await other.client.get("/config")
      return (shown, check, again)
    }
    #expect(shown.status == 200 && shown.headers["content-type"] == "text/plain; charset=utf-8")
    #expect(check.status == 0, "\(check.errors)")
    #expect(shown.body.contains("  - name: \"say \\\"hi\\\"\"\n    interface: lo\n    interval: 2s\n    timeout: 2s\n"))
    #expect(again.body == shown.body)
  }

  @Test("curl --compressed brings the same metrics as promtool wants them")
  func compressed() async throws {
    try await withEventLoop { loop in
      let agent = try await RunningAgent.start(Self.configuration, on: loop)
      try await agent.awaitReady()
      let url = "http://127.0.0.1:\(agent.client.port)/metrics"
      let curl = try ChildProcess(
        ["curl", "--silent", "--compressed", "--write-out", "%{stderr}%header{content-encoding} %{http_code}", url],
        on: loop)
      #expect(try await curl.exitStatus() == 0)
      #expect(curl.errors == "gzip 200")
      let verdict = try runProgram(["promtool", "check", "metrics"], input: curl.output)
      #expect(verdict.isSuccess, "\(verdict.output)")
    }
  }

  @Test("IPv4, IPv6, both at once and a Unix socket are served together")
  func addresses() async throws {
    try await withEventLoop { loop in
      let folder = try TestFolder()
      let path = folder.path + "/reachd.sock"
      let agent = try await RunningAgent.start(
        Self.configuration,
        options: ["--listen", "[::1]:0", "--listen", ":0", "--listen", "unix:" + path], on: loop)
      let started = try await agent.awaitLine("agent_started")
      let places = try Self.places(started)
      #expect(places.count == 3 && started["message"]?.text?.hasSuffix("or unix:" + path) == true)
      let both = try #require(places.last { $0.hasPrefix("http://localhost:") })
      let port = both.drop { !$0.isNumber }.dropLast()
      for arguments in places.map({ [$0] }) + [
        ["http://127.0.0.1:\(port)/"], ["http://[::1]:\(port)/"], ["--unix-socket", path, "http://localhost/"],
      ] {
        #expect(try await Self.code(arguments, loop) == "200", "\(arguments)")
      }
      #expect(try await agent.stop() == 0)
      #expect(unsafe access(path, F_OK) != 0)
    }
  }

  @Test("a Unix socket that a killed agent left is taken over, and one that is in use is not")
  func takesOver() async throws {
    try await withEventLoop { loop in
      let folder = try TestFolder()
      let path = folder.path + "/reachd.sock"
      let options = ["--listen", "unix:" + path]
      let killed = try await RunningAgent.start(Self.configuration, options: options, on: loop)
      killed.process.send(SIGKILL)
      _ = try await killed.process.exitStatus()
      #expect(unsafe access(path, F_OK) == 0)
      let agent = try await RunningAgent.start(Self.configuration, options: options, on: loop)
      #expect(try await Self.code(["--unix-socket", path, "http://localhost/"], loop) == "200")
      let file = try folder.write(Self.configuration, to: "second.yaml")
      let second = try await Reachd.run(["run", "--config", file] + options, on: loop)
      #expect(second.status == 1 && second.errors.contains("another process listens there"), "\(second.errors)")
      #expect(try await Self.code(["--unix-socket", path, "http://localhost/"], loop) == "200")
      #expect(try await agent.stop() == 0)
    }
  }

  @Test("sockets that the service manager opened are served in place of those of the configuration")
  func socketActivation() async throws {
    try await withEventLoop { loop in
      // What systemd does (sd_listen_fds(3)): a listening socket and one that is none as descriptors 3 and 4.
      let manager = """
        use Socket; $^F = 9;
        socket(my $web, PF_INET, SOCK_STREAM, 0); bind($web, sockaddr_in(0, INADDR_LOOPBACK)); listen($web, 9);
        socket(my $foreign, PF_INET, SOCK_DGRAM, 0);
        fileno($web) == 3 && fileno($foreign) == 4 or die;
        $ENV{LISTEN_PID} = $$; $ENV{LISTEN_FDS} = 2; $ENV{LISTEN_FDNAMES} = "web:odd"; exec @ARGV;
        """
      let agent = try await RunningAgent.start(
        Self.configuration + "\nweb: { listen: [\"unix:/nowhere/at/all\"] }", launcher: ["perl", "-e", manager],
        on: loop)
      let url = "http://127.0.0.1:\(agent.client.port)/-/healthy"
      #expect(try await Self.code([url], loop) == "200")
      let check = try await agent.awaitLine("self_check") { $0["check"]?.text == "sockets" }
      #expect(check["message"]?.text?.contains("descriptor 4 (odd)") == true, "\(check)")
      #expect(try await agent.stop() == 0)
    }
  }

  /// The addresses to open that the first line of the log names.
  private static func places(_ started: JSON) throws -> [String] {
    let message = try #require(started["message"]?.text)
    return message.split(separator: " ").map(String.init).filter { $0.hasPrefix("http://") }
  }

  /// The status code that curl gets.
  private static func code(_ arguments: [String], _ loop: EventLoop) async throws -> String {
    let curl = try ChildProcess(
      ["curl", "--silent", "--globoff", "--max-time", "20", "--output", "/dev/null", "--write-out", "%{http_code}"]
        + arguments, on: loop)
    _ = try await curl.exitStatus()
    return curl.output
  }
}

let areClientsThere =
  TestRequirements.areAllRequired || ["curl", "promtool"].allSatisfy { (unsafe access("/usr/bin/" + $0, X_OK)) == 0 }
