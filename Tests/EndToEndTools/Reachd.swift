import Glibc
import ReachIO
import ReachTestSupport

/// The program as it was built beside these tests.
enum Reachd {
  /// The folder of the build's products: where this test's own executable is.
  static let folder: String = {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
    let path = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
  }()

  /// The executable.
  static let program = folder + "/reachd"

  /// The plugins of the build.
  static let plugins = ["DNS", "Link", "Route", "TCP"].map { folder + "/lib\($0)Probe.so" }

  /// The top of the source tree.
  static let sources: String = {
    // Tests/EndToEndTools/Reachd.swift
    var path = Substring(#filePath)
    for _ in 0..<3 { path = path[..<(path.lastIndex(of: "/") ?? path.startIndex)] }
    return String(path)
  }()

  /// What a command that has ended left behind.
  struct Ended {
    let status: Int32
    let output: String
    let errors: String
  }

  /// Runs one command to its end. `environment` has words such as `NO_COLOR=1`.
  static func run(
    _ words: [String], environment: [String] = [], within limit: Duration = .seconds(40), on loop: EventLoop
  ) async throws -> Ended {
    let process = try ChildProcess(["env"] + environment + [program] + words, on: loop)
    let status = try await process.exitStatus(within: limit)
    return Ended(status: status, output: process.output, errors: process.errors)
  }

  /// Runs one command outside any network that a test makes.
  static func run(_ words: String..., environment: [String] = []) async throws -> Ended {
    try await withEventLoop { loop in try await run(words, environment: environment, on: loop) }
  }

  /// What `reachd probe --json` says of targets: their object for each, in order, and the exit status.
  static func probe(
    _ targets: [String], config: String? = nil, options: [String] = [], on loop: EventLoop
  ) async throws -> (results: [JSON], status: Int32) {
    let words = ["probe", "--json"] + options + (config.map { ["--config", $0] } ?? []) + ["--"] + targets
    let ended = try await run(words, on: loop)
    guard !ended.output.isEmpty else { throw ProbeFailure(description: ended.errors) }
    return (try JSON(parsing: ended.output).elements, ended.status)
  }

  struct ProbeFailure: Error, CustomStringConvertible {
    let description: String
  }
}
