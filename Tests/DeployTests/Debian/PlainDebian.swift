import Glibc
import ReachIO
import ReachTestSupport

@testable import EndToEndTools

/// A Debian in which nothing was installed but what the package depends on: a layer of the test's own above
/// `.build/debian/plain`, which nobody else sees and which is gone with this value.
///
/// Isolation: on its event loop.
final class PlainDebian: Sendable {
  /// What `.ci/test` makes.
  static let root = Reachd.sources + "/.build/debian/plain"

  /// Whether it is there and can be entered; always true where all tests are required.
  static let isAvailable =
    TestRequirements.areAllRequired
    || (getuid() == 0 && NamespaceSupport.isAvailable && (unsafe access(root + ".made", R_OK)) == 0)

  /// Why a test is skipped where `isAvailable` is false.
  static let requirement = "needs root and .build/debian/plain, which `make test` has made by root"

  private let folder: TestFolder
  private let holder: ChildProcess
  private let loop: EventLoop

  /// Mounts a layer. Throws when it cannot be mounted.
  init(on loop: EventLoop) async throws {
    folder = try TestFolder()
    self.loop = loop
    for name in ["upper", "work", "root"] { try folder.makeFolder(name) }
    try DeployTests.succeed("chmod", "755", folder.path, folder.path + "/upper")
    let script = """
      mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$2/root"
      mount -t proc proc "$2/root/proc"
      echo mounted
      exec chroot "$2/root" sleep infinity
      """
    let holder = try ChildProcess(
      ["unshare", "--mount", "bash", "-euc", script, "bash", Self.root, folder.path], on: loop)
    self.holder = holder
    _ = try await eventually(
      "the layer", on: loop, state: { holder.failure("").description },
      {
        guard holder.isRunning else { throw holder.failure("ended") }
        // The mount is there before; what follows enters the root of the last program.
        return (try? textOfFile("/proc/\(holder.processID)/comm")) == "sleep\n" ? () : nil
      })
  }

  /// The words that run a command in there, as root.
  func entering(_ words: [String]) -> [String] {
    ["nsenter", "--target", "\(holder.processID)", "--mount", "--root", "--wdns=/"]
      + ["env", "--ignore-environment", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive"] + words
  }

  /// Runs a command in there to its end, as root.
  func run(_ words: String...) async throws -> Reachd.Ended {
    let process = try ChildProcess(entering(words), on: loop)
    let status = try await process.exitStatus(within: .seconds(120))
    return Reachd.Ended(status: status, output: process.output, errors: process.errors)
  }

  /// Runs a command in there that must succeed, and returns what it printed. Throws when it fails.
  @discardableResult
  func succeed(_ words: String...) async throws -> String {
    let process = try ChildProcess(entering(words), on: loop)
    guard try await process.exitStatus(within: .seconds(120)) == 0 else { throw process.failure("failed") }
    return process.output
  }

  /// Puts a file of this machine in there.
  func copy(_ file: String, to path: String) throws {
    try DeployTests.succeed("cp", file, "/proc/\(holder.processID)/root\(path)")
  }

  /// Writes a file in there.
  func write(_ text: String, to path: String) throws {
    try DeployTests.succeed("cp", folder.write(text, to: "written"), "/proc/\(holder.processID)/root\(path)")
  }

  /// Installs a package without asking anything, and returns what was said.
  @discardableResult
  func install(_ package: String) async throws -> String {
    try copy(package, to: "/tmp/reachd.deb")
    let process = try ChildProcess(entering(["dpkg", "--install", "/tmp/reachd.deb"]), on: loop)
    guard try await process.exitStatus(within: .seconds(120)) == 0 else { throw process.failure("failed") }
    return process.output + process.errors
  }

  /// Every file and folder in there, with what it is, whose it is and who may do what; and the users and groups.
  ///
  /// Without what dpkg(1) and adduser(8) write for themselves, whatever the package.
  func inventory() async throws -> Set<String> {
    let script = """
      find / -path /proc -prune -o -path /tmp -prune -o -printf '%p %y %m %u:%g\\n' |
        grep -Ev '^/(var/lib/dpkg/(status-old|lock|triggers|info |updates)|var/log/dpkg.log|etc/[a-z]+-|etc/.pwd.lock|run/adduser)'
      cat /etc/passwd /etc/group
      """
    return Set(try await succeed("sh", "-euc", script).split(separator: "\n").map(String.init))
  }
}
