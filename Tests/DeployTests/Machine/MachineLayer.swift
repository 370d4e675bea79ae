import Glibc
import ReachIO
import ReachTestSupport

@testable import EndToEndTools

/// What a machine has beside the plain Debian that it runs on: files put there before it boots, and all that it writes.
final class MachineLayer: Sendable {
  /// The Debian below it, which `.ci/debian-root machine` makes.
  static let root = Reachd.sources + "/.build/debian/machine"

  /// Whether machines can be booted here: it takes root, systemd-nspawn(1) and the root made.
  ///
  /// Always true where all tests are required.
  static let isAvailable =
    TestRequirements.areAllRequired
    || (getuid() == 0 && (unsafe access("/usr/bin/systemd-nspawn", X_OK)) == 0
      && (unsafe access(root + ".made", R_OK)) == 0)

  /// Why a test is skipped where `isAvailable` is false.
  static let requirement = "needs root, systemd-nspawn and .build/debian/machine, which `make test` has made by root"

  let folder: TestFolder

  /// An empty layer.
  init() throws {
    folder = try TestFolder()
    for name in ["upper", "work", "root"] { try folder.makeFolder(name) }
    // The root of what is mounted has the mode of this.
    try perform("chmod", "755", folder.path + "/upper")
    // Nobody answers there unless a test plugs something in.
    try write("nameserver 192.0.2.53\noptions timeout:1 attempts:1\n", to: "/etc/resolv.conf")
  }

  /// Writes a file that the machine will find, and the folder it is in.
  func write(_ text: String, to path: String) throws { try writeFile(text, to: folder.path + "/upper" + path) }

  /// Runs a program that furnishes the layer. Throws when it fails.
  func perform(_ words: String...) throws {
    let result = try runProgram(words)
    guard result.isSuccess else {
      throw MachineFailure(description: "\(words.joined(separator: " ")): \(result.output)")
    }
  }

  /// The path by which a file of the layer is found before the machine boots.
  func path(_ path: String) -> String { folder.path + "/upper" + path }
}

/// Writes a file and the folders above it, readable by everybody.
func writeFile(_ text: String, to path: String) throws {
  let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
  let made = try runProgram(["install", "-d", "-m", "755", folder])
  guard made.isSuccess else { throw MachineFailure(description: made.output) }
  let number = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
  guard number >= 0 else { throw SystemError.current("open") }
  let file = Descriptor(owning: number)
  _ = fchmod(file.number, 0o644)
  var bytes = Array(text.utf8)[...]
  while !bytes.isEmpty {
    let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(file.number, $0.baseAddress, $0.count) }
    guard count > 0 else { throw SystemError.current("write") }
    bytes = bytes.dropFirst(count)
  }
}

/// What went wrong with a machine, or in it.
struct MachineFailure: Error, CustomStringConvertible {
  let description: String
}
