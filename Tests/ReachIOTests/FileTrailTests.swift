import Glibc
import ReachCore
import ReachTestSupport
import Testing

@testable import ReachIO

@Suite struct FileTrailTests {
  private func steps(_ path: String) -> (steps: [String], reached: [String], stamp: FileStamp) {
    var steps: [String] = []
    var reached: [String] = []
    let stamp = FileTrail.follow(path) {
      steps.append("\($0.folder) \($0.entry)\($0.isLast ? " last" : "")")
    } reach: {
      reached.append($0)
    }
    return (steps, reached, stamp)
  }

  @Test("each folder on the way is visited with the entry that leads on, links and dots followed as the kernel does")
  func follows() throws {
    let folder = try TestFolder()
    let base = folder.path
    let name = String(base.dropFirst("/tmp/".utf8.count))
    try #require(unsafe mkdir(base + "/real", 0o755) == 0 && symlink("real", base + "/link") == 0)
    try folder.write("one", to: "real/f")
    let (steps, reached, stamp) = steps(base + "/./link/../link//f")
    #expect(
      steps == [
        "/ tmp", "/tmp \(name)", "\(base) link", "\(base) real", "\(base) link", "\(base) real",
        "\(base)/real f last",
      ])
    #expect(reached == [base + "/real/f"])
    #expect(stamp.realPath == base + "/real/f")
    #expect(stamp.missing == nil)
  }

  @Test("the way ends where there is nothing more, and says why")
  func ends() throws {
    let folder = try TestFolder()
    let base = folder.path
    try folder.write("one", to: "f")
    try #require(unsafe symlink("a", base + "/b") == 0 && symlink("b", base + "/a") == 0)
    #expect(steps(base + "/none/f").stamp.missing?.errno == ENOENT)
    #expect(steps(base + "/f/g").stamp.missing?.errno == ENOTDIR)
    #expect(steps(base + "/a").stamp.missing?.errno == ELOOP)
    #expect(steps(base).stamp.missing == nil)
    #expect(steps("/").stamp.missing == nil)
    #expect(steps("/../..").stamp == steps("/").stamp)
    #expect(steps(base + "/" + String(repeating: "n", count: 300)).stamp.missing?.errno == ENAMETOOLONG)
  }

  @Test("what a file is told apart by: contents of another length, another inode, other permissions")
  func stamps() throws {
    let folder = try TestFolder()
    let file = try folder.write("one", to: "f")
    let first = steps(file).stamp
    #expect(steps(file).stamp == first)
    #expect(unsafe chmod(file, 0o600) == 0)
    let second = steps(file).stamp
    #expect(second != first)
    try folder.write("one", to: "g")
    #expect(unsafe chmod(folder.path + "/g", 0o600) == 0 && rename(folder.path + "/g", file) == 0)
    #expect(steps(file).stamp != second)
  }
}
