import Glibc
import ReachIO
import ReachTestSupport

@testable import EndToEndTools

/// The Debian package that `.ci/deb` has made of these sources before the tests.
enum DebianPackage {
  /// The file; the one in `dist`.
  static let path: String = {
    let file = (try? Repository.files(in: "dist"))?.first { $0.hasPrefix("dist/reachd_") && $0.hasSuffix(".deb") }
    return Reachd.sources + "/" + (file ?? "dist/reachd.deb")
  }()

  /// Its version.
  static let version = (try? field("Version")) ?? "unknown"

  /// Whether it has been made; always true where all tests are required.
  static let isAvailable = TestRequirements.areAllRequired || (unsafe access(path, R_OK)) == 0

  /// Why a test is skipped where `isAvailable` is false.
  static let requirement = "needs the Debian package, which `make test` makes"

  /// Something in the package, as `dpkg-deb --contents` prints it.
  struct Entry: Hashable {
    /// As ls(1) prints it, such as `-rw-r--r--`.
    let mode: String
    let owner: String
    let date: String
    /// From the top on, with a slash at the end of a folder.
    let path: String
    /// Where a symbolic link leads.
    let destination: String?

    init?(_ line: Substring) {
      let fields = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
      guard fields.count == 6 else { return nil }
      mode = String(fields[0])
      owner = String(fields[1])
      date = "\(fields[3]) \(fields[4])"
      let names = fields[5].split(separator: " -> ", maxSplits: 1)
      path = String(names[0].dropFirst())
      destination = names.count > 1 ? String(names[1]) : nil
    }
  }

  /// All that is in it, in the order of the paths.
  static func entries() throws -> [Entry] {
    try succeed("dpkg-deb", "--contents", path).split(separator: "\n").compactMap(Entry.init)
      .sorted { $0.path < $1.path }
  }

  /// A field of its control file.
  static func field(_ name: String) throws -> String {
    try String(succeed("dpkg-deb", "--field", path, name).split(separator: "\n").joined(separator: "\n"))
  }

  /// Unpacks it, with its control files in `DEBIAN`, into a folder of the test's.
  static func unpack() throws -> TestFolder {
    let folder = try TestFolder()
    try succeed("dpkg-deb", "--raw-extract", path, folder.path + "/tree")
    return folder
  }

  /// Makes the same package again under another version, and returns its path.
  static func repack(version: String, in folder: TestFolder, changing: (_ tree: String) throws -> Void = { _ in })
    throws
    -> String
  {
    let tree = folder.path + "/tree-" + version
    try succeed("dpkg-deb", "--raw-extract", path, tree)
    try succeed("sed", "-i", "s/^Version: .*/Version: \(version)/", tree + "/DEBIAN/control")
    try changing(tree)
    let file = folder.path + "/reachd_\(version).deb"
    try succeed("dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, file)
    return file
  }
}

/// Runs a program to its end and returns what it printed. Throws when it fails.
@discardableResult
func succeed(_ words: String...) throws -> String {
  let result = try runProgram(words)
  guard result.isSuccess else {
    throw CommandFailure(description: "\(words.joined(separator: " ")): status \(result.status)\n\(result.output)")
  }
  return result.output
}

/// A command that had to succeed and did not.
struct CommandFailure: Error, CustomStringConvertible {
  let description: String
}
