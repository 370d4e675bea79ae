import Glibc
import ReachPluginHost

/// Where this build put the plugins: beside the test program, where an agent looks too.
enum BuiltPlugins {
  static let folder = PluginHost.defaultSearchPath.first ?? "."

  static func file(_ name: String) -> String { folder + "/" + name }
}

/// A folder of its own for one test, gone when the test ends.
final class Scratch {
  let path: String

  init() throws {
    var template = Array("/tmp/reachd-plugins-XXXXXX".utf8CString)
    guard
      unsafe template.withUnsafeMutableBufferPointer({ unsafe $0.baseAddress.flatMap { unsafe mkdtemp($0) } }) != nil
    else {
      throw ScratchError.errno(errno)
    }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { _ = try? run("/bin/rm", "-rf", path) }

  func file(_ name: String) -> String { path + "/" + name }

  /// Writes a file with this text, readable for all and writable for its owner.
  @discardableResult
  func write(_ name: String, _ text: String) throws -> String {
    let file = file(name)
    let descriptor = unsafe open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw ScratchError.errno(errno) }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    guard unsafe bytes.withUnsafeBytes({ unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }) == bytes.count
    else { throw ScratchError.errno(errno) }
    return file
  }

  /// Copies a built plugin under this name.
  @discardableResult
  func copy(_ source: String, as name: String, mode: mode_t = 0o644) throws -> String {
    let file = file(name)
    try run("/bin/cp", source, file)
    guard unsafe chmod(file, mode) == 0 else { throw ScratchError.errno(errno) }
    return file
  }

  /// Compiles a C file into the plugin of this name.
  @discardableResult
  func compile(_ source: String, as name: String, flags: [String] = []) throws -> String {
    let input = try write(name + ".c", source)
    try run("/usr/bin/env", ["cc", "-shared", "-fPIC", "-o", file(name), input] + flags)
    guard unsafe chmod(file(name), 0o644) == 0 else { throw ScratchError.errno(errno) }
    return file(name)
  }
}

enum ScratchError: Error {
  case errno(Int32)
  case failed([String], Int32)
}

/// Whether this machine has a C compiler.
let hasCompiler = (try? run("/usr/bin/env", "cc", "--version")) != nil

func run(_ program: String, _ arguments: String...) throws { try run(program, arguments) }

/// Runs a program to its end; its output goes nowhere. Throws when it does not succeed.
func run(_ program: String, _ arguments: [String]) throws {
  var actions = unsafe posix_spawn_file_actions_t()
  unsafe posix_spawn_file_actions_init(&actions)
  defer { unsafe posix_spawn_file_actions_destroy(&actions) }
  unsafe posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
  unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
  var child = pid_t()
  var pointers = unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
  defer { unsafe pointers.forEach { unsafe free($0) } }
  let code = unsafe posix_spawn(&child, program, &actions, nil, &pointers, environ)
  guard code == 0 else { throw ScratchError.errno(code) }
  var status: Int32 = 0
  while unsafe waitpid(child, &status, 0) < 0, errno == EINTR {}
  guard status == 0 else { throw ScratchError.failed([program] + arguments, status) }
}
