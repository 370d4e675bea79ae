import Glibc
import ReachCore
import ReachIO
import ReachLog
import Testing

@testable import ReachAgent

@Suite struct LateFilesTests {
  private func remedy(_ errno: Int32) throws -> String {
    let limitation = SystemError("inotify_add_watch", FaultCode(errno: errno))
    let line = LogEvent.noticedLate("a change of /home/x/t.json is", limitation, in: "/home/x/t.json")
    let field = try #require(line.fields.first { $0.name == "remedy" })
    return "\(field.value)"
  }

  @Test("files that may not be read are to be made readable, and not to be answered by larger limits")
  func permission() throws {
    #expect(try remedy(EACCES).contains("read /home/x/t.json"))
    #expect(!(try remedy(EACCES)).contains("fs.inotify"))
    #expect(try remedy(EMFILE).contains("fs.inotify.max_user_instances"))
    #expect(try remedy(ENOSPC).contains("fs.inotify.max_user_watches"))
  }
}
