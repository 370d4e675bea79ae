import Glibc
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// What systemd's own tools say of the delivered units.
@Suite(.enabled(if: hasSystemdAnalyze, "needs systemd-analyze"))
struct UnitFileTests {
  @Test("systemd finds no fault with a unit")
  func verify() throws {
    let folder = try TestFolder()
    let files = try Self.units.map { name in
      try folder.write(try Self.text(name, program: Reachd.program), to: name)
    }
    let result = try runProgram(["systemd-analyze", "verify", "--man=no"] + files)
    #expect(result.isSuccess && result.output.isEmpty, "\(result.output)")
  }

  @Test("the exposure that systemd-analyze security computes is at most 2.0")
  func exposure() throws {
    let folder = try TestFolder()
    let file = try folder.write(try Self.text("reachd.service"), to: "reachd.service")
    let result = try runProgram(["systemd-analyze", "security", "--offline=true", "--no-pager", file])
    let verdict = try #require(result.output.split(separator: "\n").last { $0.contains("Overall exposure level") })
    let level = try #require(verdict.split(separator: " ").compactMap { Double($0) }.first)
    #expect(level <= 2.0, "\(result.output)")
  }

  @Test("neither unit waits for any network")
  func ordering() throws {
    for name in Self.units {
      let lines = try Self.text(name).split(separator: "\n").filter { !$0.hasPrefix("#") }
      #expect(!lines.contains { $0.contains("network") }, "\(name)")
      #expect(lines.contains("DefaultDependencies=no"), "\(name)")
    }
  }

  private static let units = ["reachd.service", "reachd.socket"]

  /// A unit, with another program than the one that would be installed.
  private static func text(_ name: String, program: String = "/usr/bin/reachd") throws -> String {
    try Repository.text("deploy/systemd/\(name)").split(separator: "/usr/bin/reachd", omittingEmptySubsequences: false)
      .joined(separator: program)
  }
}

private let hasSystemdAnalyze =
  TestRequirements.areAllRequired || (unsafe access("/usr/bin/systemd-analyze", X_OK)) == 0
