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

/// The text of a file. Throws what open(2) or pread(2) failed with.
public func textOfFile(_ path: String) throws(SystemError) -> String { try readFile(path) }
