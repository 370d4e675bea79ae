internal import Glibc
internal import ReachCore
internal import Testing

/// One row of `vectors.tsv`: what a user of the semantics may hold the judgement to.
struct Vector: Sendable, CustomTestStringConvertible {
  let id: String
  let kind: String
  let rule: StatusRule
  let target: String
  let scope: String
  let link: String
  let route: String
  let dns: String
  let tcp: String
  let extra: String
  let flags: String
  let hex: String
  let status: String
  let reason: String
  let note: String

  var testDescription: String { "\(id) \(note)" }

  /// The rows of one kind; empty when the file cannot be read, which a test of its own notices.
  static func rows(of kind: String) -> [Vector] { all.filter { $0.kind == kind } }

  private static let all: [Vector] = {
    let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    return text(of: folder + "/vectors.tsv").split(separator: "\n").dropFirst().compactMap(Vector.init(line:))
  }()

  private init?(line: Substring) {
    let columns = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    guard columns.count == 16, let rule = StatusRule(rawValue: columns[2]) else {
      Issue.record("not a row of 16 columns with a known rule: \(line)")
      return nil
    }
    id = columns[0]
    kind = columns[1]
    self.rule = rule
    target = columns[3]
    scope = columns[4]
    link = columns[5]
    route = columns[6]
    dns = columns[7]
    tcp = columns[8]
    extra = columns[9]
    flags = columns[10]
    hex = columns[11]
    status = columns[12]
    reason = columns[13]
    note = columns[15]
  }

  private static func text(of path: String) -> String {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe block.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      bytes += block[..<count]
    }
  }
}
