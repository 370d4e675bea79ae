import Glibc
import Testing

@testable import ReachLog

@Suite struct JournalStreamTests {
  @Test("the journal is where the variable says, if that is the descriptor's own socket, and nowhere else")
  func reached() throws {
    var ends: [Int32] = [-1, -1]
    try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
    defer { for end in ends { close(end) } }
    var status = stat()
    try #require(unsafe fstat(ends[0], &status) == 0)
    let name = "\(status.st_dev):\(status.st_ino)"
    #expect(JournalStream.isReached(by: ends[0], named: name))
    #expect(!JournalStream.isReached(by: ends[1], named: name))
    for other in ["", ":", name + "0", "x" + name] { #expect(!JournalStream.isReached(by: ends[0], named: other)) }
    #expect(!JournalStream.isReached(by: -1, named: name))
  }

  @Test("a level becomes the priority of syslog(3) that means the same")
  func priorities() {
    #expect(LogLevel.allCases.map(JournalStream.prefix) == ["<7>", "<6>", "<4>", "<3>"])
  }
}
