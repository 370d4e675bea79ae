import Glibc
import ReachIO
import ReachTestSupport

@testable import EndToEndTools

/// The image as `.ci/container-image` has built it.
enum ContainerImage {
  private static let home = Reachd.sources + "/.build/container"
  static let root = home + "/root"
  static let description = home + "/image.json"
  static let runtime = "/usr/bin/crun"

  /// Whether it is there and can be run; always true where all tests are required.
  static let isAvailable = TestRequirements.areAllRequired || canRun

  static let requirement = "needs root, crun, and the image that .ci/container-image builds"

  private static var canRun: Bool {
    guard geteuid() == 0 else { return false }
    let hasRuntime = unsafe access(runtime, X_OK) == 0
    let hasImage = unsafe access(home + "/made", R_OK) == 0
    return hasRuntime && hasImage
  }

  /// What the image says of itself.
  static func configuration() throws -> JSON {
    try JSON(parsing: try textOfFile(description))["config"] ?? .null
  }
}

/// A container of the image: its root cannot be written, it has no capability, and the agent is its process 1.
///
/// Isolation: on its event loop. It runs in the network of the thread that makes it.
final class RunningContainer: Sendable {
  private let process: ChildProcess
  let client: HTTPClient
  private let name: String
  private let folder: TestFolder
  private let loop: EventLoop

  /// Starts it on a configuration and waits until the agent answers.
  static func start(_ configuration: String, on loop: EventLoop) async throws -> RunningContainer {
    let container = try RunningContainer(configuration, on: loop)
    try await eventually("the container", on: loop, state: { container.process.failure("").description }) {
      guard container.process.isRunning else { throw container.process.failure("ended") }
      return (try? await container.client.get("/-/healthy"))?.status == 200 ? () : nil
    }
    return container
  }

  private init(_ configuration: String, on loop: EventLoop) throws {
    folder = try TestFolder()
    self.loop = loop
    name = String(folder.path.split(separator: "/").last ?? "reachd-test")
    for part in ["bundle", "runtime", "config", "state"] { try folder.makeFolder(part) }
    try folder.write(configuration, to: "config/reachd.yaml")
    let user = try (ContainerImage.configuration()["User"]?.text ?? "").split(separator: ":").compactMap { UInt32($0) }
    guard user.count == 2 else { throw CommandFailure(description: "the image's user is no pair of numbers") }
    // The folders above are for root alone; the container's user enters by the mount.
    _ = unsafe chown(folder.path + "/state", user[0], user[1])
    let script = Reachd.sources + "/Tests/DeployTests/Container/bundle.py"
    let made = try runProgram([
      "python3", script, ContainerImage.description, ContainerImage.root, folder.path + "/config",
      folder.path + "/state",
    ])
    guard made.isSuccess else { throw CommandFailure(description: made.output) }
    try folder.write(made.output, to: "bundle/config.json")
    client = HTTPClient(address: .loopback, port: 10120, loop: loop)
    // A signal ends the runtime, and this the container with it.
    process = try ChildProcess(
      Self.command(in: folder) + ["run", "--bundle", folder.path + "/bundle", name], endSignal: SIGTERM, on: loop)
  }

  deinit { _ = try? runProgram(Self.command(in: folder) + ["delete", "--force", name]) }

  /// The runtime's words. It knows control groups of the first and of the second version, but refuses where a machine has
  /// both, so it is shown those of the second alone; the container is in none of its own.
  private static func command(in folder: TestFolder) -> [String] {
    let script = "mount -t cgroup2 none /sys/fs/cgroup && exec \"$@\""
    return ["unshare", "--mount", "sh", "-c", script, "sh"]
      + [ContainerImage.runtime, "--root", folder.path + "/runtime", "--cgroup-manager=disabled"]
  }

  /// What the agent has logged.
  var log: String { process.errors + process.output }

  /// Whether there is something of that name in the folder for the state.
  func keepsState(_ name: String) -> Bool { folder.contains("state/" + name) }

  /// The process ID of the agent, as this machine has it.
  func agentProcess() throws -> Int32 {
    let ended = try runProgram(Self.command(in: folder) + ["state", name])
    guard let number = try JSON(parsing: ended.output)["pid"]?.number else {
      throw CommandFailure(description: ended.output)
    }
    return Int32(number)
  }

  /// Runs a program of the image in the container, as `docker exec` would.
  func execute(_ words: [String]) async throws -> (status: Int32, output: String) {
    let child = try ChildProcess(Self.command(in: folder) + ["exec", name] + words, on: loop)
    let status = try await child.exitStatus()
    return (status, child.output + child.errors)
  }

  /// Sends the agent a signal.
  func send(_ signal: Int32) throws { kill(try agentProcess(), signal) }

  /// Waits until the container has ended, and returns the agent's exit status.
  func exitStatus(within limit: Duration) async throws -> Int32 { try await process.exitStatus(within: limit) }
}
