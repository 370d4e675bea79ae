internal import Glibc
internal import ReachCore
public import ReachIO

/// A folder of a test's own below /tmp, gone with all that is in it when this value ends.
public final class TestFolder: Sendable {
  /// Its absolute path.
  public let path: String

  /// An empty folder that only this user may enter. Throws what mkdtemp(3) failed with.
  public init() throws(SystemError) {
    var template = Array("/tmp/reachd-test.XXXXXX\0".utf8CString.dropLast())
    guard unsafe mkdtemp(&template) != nil else { throw SystemError.current("mkdtemp") }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { _ = try? runProgram(["rm", "-rf", "--", path]) }

  /// Writes a file and returns its path. Throws what open(2) or write(2) failed with.
  @discardableResult
  public func write(_ text: String, to name: String) throws(SystemError) -> String {
    let file = path + "/" + name
    let number = try retryingInterrupts("open") {
      unsafe open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    }
    try Descriptor(owning: number).writeAll(text)
    return file
  }
}

extension TestFolder {
  /// Gives a file another name, in one step. Throws what rename(2) failed with.
  public func rename(_ name: String, to other: String) throws(SystemError) {
    guard unsafe Glibc.rename(path + "/" + name, path + "/" + other) == 0 else { throw SystemError.current("rename") }
  }

  /// Makes a symbolic link that leads to `destination`. Throws what symlink(2) failed with.
  public func link(_ name: String, to destination: String) throws(SystemError) {
    guard unsafe symlink(destination, path + "/" + name) == 0 else { throw SystemError.current("symlink") }
  }

  /// Makes a folder in it. Throws what mkdir(2) failed with.
  public func makeFolder(_ name: String) throws(SystemError) {
    guard unsafe mkdir(path + "/" + name, 0o755) == 0 else { throw SystemError.current("mkdir") }
  }

  /// Takes a file away. Throws what unlink(2) failed with.
  public func remove(_ name: String) throws(SystemError) {
    guard unsafe unlink(path + "/" + name) == 0 else { throw SystemError.current("unlink") }
  }

  /// Whether there is a file of that name.
  public func contains(_ name: String) -> Bool { unsafe access(path + "/" + name, F_OK) == 0 }
}

/// The text of a file. Throws what open(2) or pread(2) failed with.
public func textOfFile(_ path: String) throws(SystemError) -> String { try readFile(path) }
