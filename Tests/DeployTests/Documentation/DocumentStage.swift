import Glibc
import ReachCore
import ReachIO
import ReachTestSupport

@testable import EndToEndTools

/// Where the commands of one page are run: a host of its own, with a router, a name server and servers behind it, on
/// which reachd is installed. Nothing that a command does outlives the page.
///
/// The files of the machine can be read and not written, but for /tmp, a copy of /etc and an empty /var/lib. Commands
/// begin in a copy of the source tree whose `.build/debug` is the build under test.
///
/// Isolation: on its event loop.
final class DocumentStage {
  /// How a command ended, with all that it printed.
  struct Ended {
    let status: Int32
    let output: String
  }

  private let loop: EventLoop
  private let stage: NetworkStage
  private let folder: TestFolder
  private let configuration: TestFolder
  /// Holds the mounts. They are those of processes of their own, never of a thread of the test: the threads that it
  /// starts would inherit them.
  private var mounts: ChildProcess?
  private var holding: [any Sendable] = []
  private var agent: ChildProcess?
  private var prometheus: Prometheus?

  /// Stages it. Throws what could not be had.
  init(_ stage: NetworkStage, on loop: EventLoop) async throws {
    self.loop = loop
    self.stage = stage
    folder = try TestFolder()
    configuration = try TestFolder()
    try stageNetwork()
    try await stageFiles()
    try await stageServers()
  }

  // MARK: The host and what it reaches

  private func stageNetwork() throws {
    let router = try stage.addNamespace("router")
    try stage.join(stage.host, "eth0", to: router, "eth1")
    try router.ip(
      """
      address add 192.0.2.1/24 dev eth1
      address add 192.0.2.53/24 dev eth1
      address add 2001:db8::1/64 dev eth1
      address add 198.51.100.10/32 dev lo
      address add 198.51.100.20/32 dev lo
      address add 2001:db8:5::10/128 dev lo
      address add 2001:db8:5::20/128 dev lo
      """)
    try stage.ip(
      """
      address add 192.0.2.7/24 dev eth0
      address add 2001:db8::7/64 dev eth0
      route add default via 192.0.2.1
      route add default via 2001:db8::1
      """)
    try router.set("ipv4/conf/all/forwarding", to: "1")
    try router.set("ipv6/conf/all/forwarding", to: "1")
    self.router = router
  }

  private var router: NetworkNamespace?

  private func stageServers() async throws {
    guard let router else { return }
    let server = try NameServer(
      zone: Self.zone, of: ".", at: "192.0.2.53", in: router, on: loop)
    holding.append(server)
    // One port answers for all that pages speak of.
    for (address, family) in [(IPAddress("198.51.100.10"), "ip"), ("2001:db8:5::10", "ip6")] {
      let any: IPAddress = address.family == .ipv4 ? "0.0.0.0" : "::"
      let port = try router.perform { () throws(SystemError) in try TestPort(.open, on: any) }
      holding.append(port)
      try router.nft(
        """
        table \(family) pages { chain in { type nat hook prerouting priority dstnat;
          tcp dport { 22, 25, 80, 443, 5432, 6379, 8080, 8443 } redirect to :\(port.number)
        }; }
        """)
    }
    try await eventually("the name server", on: loop) {
      try await type("reachd probe --timeout 1s www.example.com").status == 0 ? () : nil
    }
  }

  private static let zone = """
    $ORIGIN .
    $TTL 300
    @              IN SOA  ns.example. hostmaster.example. 1 3600 600 86400 60
    @              IN NS   ns.example.
    ns.example.    IN A    192.0.2.53
    example.com.   IN A    198.51.100.10
    example.com.   IN AAAA 2001:db8:5::10
    *.example.com. IN A    198.51.100.10
    *.example.com. IN AAAA 2001:db8:5::10
    example.org.   IN A    198.51.100.10
    *.example.org. IN A    198.51.100.10
    db.internal.   IN A    198.51.100.20
    *.internal.    IN A    198.51.100.20

    """

  // MARK: Files

  private func stageFiles() async throws {
    try run(["cp", "-a", "/etc/.", configuration.path])
    try run(["chmod", "755", configuration.path, folder.path])
    try configuration.write("nameserver 192.0.2.53\n", to: "resolv.conf")
    try configuration.write("127.0.0.1 localhost\n::1 localhost\n", to: "hosts")
    try run(["mkdir", "-p", configuration.path + "/reachd"])
    try run(["cp", Reachd.sources + "/etc/reachd.yaml", configuration.path + "/reachd/reachd.yaml"])
    let work = folder.path + "/reachd"
    try run(["mkdir", "-p", work + "/.build", folder.path + "/bin", folder.path + "/home"])
    for name in ["deploy", "docs", "etc", "Examples", "Plugins", "README.md", "Makefile"] {
      let source = Reachd.sources + "/" + name
      if unsafe access(source, F_OK) == 0 { try run(["cp", "-a", source, work + "/"]) }
    }
    try run(["ln", "-s", Reachd.folder, work + "/.build/debug"])
    try run(["ln", "-s", Reachd.program, folder.path + "/bin/reachd"])
    let libraries = folder.path + "/lib"
    try run(["mkdir", "-p", libraries + "/reachd/plugins"])
    for plugin in Reachd.plugins { try run(["ln", "-s", plugin, libraries + "/reachd/plugins/"]) }
    try folder.write("cd '\(work)'\n", to: "state")
    try await mountFiles(libraries: libraries)
  }

  /// Puts the plugins where a package has them, over the machine's own /usr/lib, and lets nothing else be written.
  private func mountFiles(libraries: String) async throws {
    let script = """
      set -e
      mount --bind '\(configuration.path)' /etc
      mount -t overlay overlay -o 'lowerdir=\(libraries):/usr/lib' /usr/lib
      mount --bind /tmp /tmp
      mount -t tmpfs tmpfs /var/lib
      mount -o remount,bind,ro /
      echo ready
      exec sleep infinity
      """
    let holder = try ChildProcess(["unshare", "--mount", "bash", "-c", script], on: loop)
    mounts = holder
    try await eventually("the mounts", on: loop, state: { holder.failure("").description }) {
      guard holder.isRunning else { throw holder.failure("ended") }
      return holder.output == "ready\n" ? () : nil
    }
  }

  /// The words that run a program among these mounts.
  private var entering: [String] { mounts.map { ["nsenter", "--mount=/proc/\($0.processID)/ns/mnt"] } ?? [] }

  private func run(_ words: [String]) throws { try stage.host.run(words) }

  /// Saves a block as a file, as a page says; what is not absolute lies where the last command ended.
  func save(_ text: String, to path: String) async throws {
    try folder.write(text, to: "saved")
    let ended = try await type("mkdir -p -- \"$(dirname -- '\(path)')\" && cp -- '\(folder.path)/saved' '\(path)'")
    guard ended.status == 0 else { throw ProgramFailureText("cannot save \(path): \(ended.output)") }
  }

  // MARK: Commands

  /// Runs a command to its end, where the one before ended.
  func type(_ command: String) async throws -> Ended {
    let process = try start(command)
    let status = try await process.exitStatus(within: .seconds(90))
    return Ended(status: status, output: process.output)
  }

  /// Starts a command that runs on until the page has ended.
  func keepRunning(_ command: String) throws { holding.append(try start(command)) }

  /// A shell for one command: it takes over where the last one was and what it exported.
  private func start(_ command: String) throws -> ChildProcess {
    try folder.write(command + "\n", to: "command")
    let script = """
      exec 2>&1
      . '\(folder.path)/state'
      trap '{ declare -px | grep -v "^declare -x \\(PWD\\|OLDPWD\\|SHLVL\\)"; printf "cd %q\\n" "$PWD"; } >\(folder.path)/state' EXIT
      . '\(folder.path)/command'
      """
    return try ChildProcess(
      entering + [
        "env", "-i", "PATH=\(folder.path)/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME=\(folder.path)/home", "LANG=C.UTF-8", "NO_COLOR=1", "bash", "-c", script,
      ], endSignal: SIGTERM, on: loop)
  }

  // MARK: Stages

  /// What `<!-- stage NAME -->` asks for.
  func apply(_ name: String) async throws {
    switch name {
    case "agent": try await startAgent()
    case "prometheus":
      try await startAgent()
      if prometheus == nil { prometheus = try await Prometheus.start(on: loop) }
    case "example-plugin": try stageExamplePlugin()
    case "history": try await makeHistory()
    case "cable-pulled":
      try router?.ip("link set eth1 down")
      try stage.host.awaitLink("eth0", showing: "NO-CARRIER")
    case "cable-in":
      try router?.ip("link set eth1 up")
      try stage.host.awaitLink("eth0", showing: "LOWER_UP")
    default: throw ProgramFailureText("there is no stage \(name)")
    }
  }

  /// The agent on /etc/reachd/reachd.yaml, ready.
  private func startAgent() async throws {
    guard agent == nil else { return }
    let process = try ChildProcess(entering + [Reachd.program, "run"], endSignal: SIGTERM, on: loop)
    let client = HTTPClient(address: .loopback, port: 10120, loop: loop)
    try await eventually("the agent", on: loop, state: { process.failure("").description }) {
      guard process.isRunning else { throw process.failure("ended") }
      return (try? await client.get("/-/ready"))?.status == 200 ? () : nil
    }
    agent = process
  }

  /// The agent watches a service that goes away and comes back, and keeps its history.
  private func makeHistory() async throws {
    try await apply("cable-in")
    try configuration.write(
      """
      state_dir: /var/lib/reachd
      targets: [{ name: db, host: db.internal, port: 5432, interval: 1s, timeout: 900ms }]

      """, to: "reachd/reachd.yaml")
    try await startAgent()
    let client = HTTPClient(address: .loopback, port: 10120, loop: loop)
    func awaitStatus(_ status: String) async throws {
      try await eventually("the service to be \(status)", on: loop) {
        let target = try await client.json("/api/v1/targets").elements.first
        return target?["status"]?.text == status ? () : nil
      }
    }
    try await awaitStatus("ReachableViaWiFi")
    try router?.nft(
      """
      table ip away { chain in { type filter hook input priority 0;
        meta l4proto tcp ct original proto-dst 5432 reject with tcp reset
      }; }
      """)
    try await awaitStatus("NotReachable")
    try router?.nft("delete table ip away")
    try await awaitStatus("ReachableViaWiFi")
  }

  /// The example of a backend has been built in the folder that the page has made, and a service greets on port 22.
  private func stageExamplePlugin() throws {
    let service = try GreetingService(saying: "SSH-2.0-OpenSSH_9.2\r\n", on: .loopback, loop: loop)
    holding.append(service)
    try stage.nft(
      """
      table ip greeting { chain out { type nat hook output priority -100;
        ip daddr 127.0.0.1 tcp dport 22 redirect to :\(service.port.number)
      }; }
      """)
    try run(["ln", "-s", ExamplePlugin.package + "/.build", folder.path + "/greeting-probe/.build"])
  }

  typealias ProgramFailureText = DocumentedCommands.ProgramFailureText
}
