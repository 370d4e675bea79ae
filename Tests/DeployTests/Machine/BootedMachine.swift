import Glibc
import ReachIO
import ReachTestSupport

@testable import EndToEndTools

/// A Debian that was booted for a test: systemd and what it starts in a container, on a layer of its own above
/// `.build/debian/machine`, with no network but `lo` until a test plugs one in.
///
/// It ends with this value at the latest: all of it is in a process namespace that dies with its first process.
///
/// Isolation: on its event loop.
final class BootedMachine: Sendable {
  /// The process that is systemd in there, seen from here.
  let leader: Int32
  /// Its network.
  let network: NetworkNamespace
  // In this order: the processes end, then their groups can go.
  private let process: ChildProcess
  private let groups: MachineGroups
  private let layer: MachineLayer
  private let loop: EventLoop

  /// Boots a layer and waits until systemd takes commands. Throws with the console's text when it does not.
  static func boot(_ layer: MachineLayer, in stage: NetworkStage, on loop: EventLoop) async throws -> BootedMachine {
    let groups = MachineGroups()
    let process = try ChildProcess(
      ["unshare", "--mount", "--pid", "--fork", "--kill-child=SIGKILL", "--mount-proc", "bash", "-euc"]
        + [groups.entering + script, groups.name, MachineLayer.root, layer.folder.path], on: loop)
    let leader = try await eventually(
      "systemd in the machine", on: loop, within: .seconds(90), state: { process.failure("").description },
      {
        guard process.isRunning else { throw process.failure("ended") }
        return systemd(below: process.processID)
      })
    let machine = BootedMachine(
      leader: leader, network: try stage.namespace(of: leader, name: "machine"), process: process,
      groups: groups, layer: layer, loop: loop)
    _ = try await eventually(
      "the machine's start", on: loop, within: .seconds(90), state: { process.failure("").description },
      {
        let state = try await machine.run(["systemctl", "is-system-running"]).output
        return ["starting\n", "running\n", "degraded\n"].contains(state) ? state : nil
      })
    return machine
  }

  private init(
    leader: Int32, network: NetworkNamespace, process: ChildProcess, groups: MachineGroups, layer: MachineLayer,
    loop: EventLoop
  ) {
    self.leader = leader
    self.network = network
    self.process = process
    self.groups = groups
    self.layer = layer
    self.loop = loop
  }

  /// The layer above the root is mounted where nobody else sees it, and is gone with the namespace.
  private static let script = """
    mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$2/root"
    exec systemd-nspawn --quiet --directory="$2/root" --machine=reachd-test --register=no --keep-unit \\
      --private-network --resolv-conf=off --timezone=off --console=pipe --boot
    """

  /// systemd among the children of the container's manager, which is the child of a process.
  private static func systemd(below process: Int32) -> Int32? {
    for manager in children(of: process) {
      for child in children(of: manager) where (try? textOfFile("/proc/\(child)/comm")) == "systemd\n" { return child }
    }
    return nil
  }

  private static func children(of process: Int32) -> [Int32] {
    let text = (try? textOfFile("/proc/\(process)/task/\(process)/children")) ?? ""
    return text.split(separator: " ").compactMap { Int32($0) }
  }

  /// What a command in the machine came to.
  struct Ended {
    let status: Int32
    let output: String
    let errors: String
    var isSuccess: Bool { status == 0 }
  }

  /// Runs a command in the machine to its end, as root.
  func run(_ words: [String], within limit: Duration = .seconds(60)) async throws -> Ended {
    let process = try ChildProcess(
      ["nsenter", "--target", "\(leader)", "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup"]
        + ["env", "--ignore-environment", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "--chdir=/"] + words,
      on: loop)
    let status = try await process.exitStatus(within: limit)
    return Ended(status: status, output: process.output, errors: process.errors)
  }

  /// Runs a command that must succeed, and returns what it printed. Throws, with the journal's end, when it fails.
  @discardableResult
  func succeed(_ words: String...) async throws -> String { try await succeed(words) }

  /// The same.
  @discardableResult
  func succeed(_ words: [String], within limit: Duration = .seconds(60)) async throws -> String {
    let ended = try await run(words, within: limit)
    guard ended.isSuccess else {
      let journal = try await run(["journalctl", "--no-pager", "--lines=60", "--output=short-precise"])
      throw MachineFailure(
        description:
          "\(words.joined(separator: " ")): status \(ended.status)\n\(ended.output)\(ended.errors)\n\(journal.output)")
    }
    return ended.output
  }

  /// Writes a file in the machine, and the folder it is in.
  func write(_ text: String, to path: String) throws {
    try writeFile(text, to: "/proc/\(leader)/root\(path)")
  }

  /// Has it shut down, and waits for that. Throws when it does not end.
  func powerOff() async throws {
    _ = try await run(["systemctl", "--no-block", "poweroff"])
    _ = try await process.exitStatus(within: .seconds(60))
  }
}
