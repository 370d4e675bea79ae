import Glibc
import Testing

@testable import ReachIO

@Suite struct InotifyEventTests {
  private func bytes(_ watch: Int32, _ mask: Int, _ name: String, room: Int? = nil, length: UInt32? = nil) -> [UInt8] {
    let room = room ?? (name.isEmpty ? 0 : (name.utf8.count + 16) / 16 * 16)
    var event = inotify_event()
    event.wd = watch
    event.mask = UInt32(mask)
    event.len = length ?? UInt32(room)
    let text = Array(name.utf8) + [UInt8](repeating: 0, count: max(0, room - name.utf8.count))
    return unsafe withUnsafeBytes(of: &event) { unsafe Array($0) } + text
  }

  @Test("events are read one after another, with their names up to the padding")
  func reads() {
    let all =
      bytes(1, Int(IN_CREATE), "resolv.conf") + bytes(2, Int(IN_IGNORED), "") + bytes(-1, Int(IN_Q_OVERFLOW), "")
    let events = InotifyEvent.events(in: all, all.count)
    #expect(events.map(\.watch) == [1, 2, -1])
    #expect(events.map(\.name) == ["resolv.conf", "", ""])
    #expect(events.map(\.isOverflow) == [false, false, true])
  }

  @Test("what is cut off, or says that it is longer than what was read, is left out")
  func survivesCuts() {
    let one = bytes(1, Int(IN_CREATE), "f")
    let all = one + bytes(1, Int(IN_DELETE), "g")
    for count in 0..<all.count {
      #expect(InotifyEvent.events(in: all, count).count == (count >= one.count ? 1 : 0))
    }
    let tooLong = bytes(1, Int(IN_CREATE), "f", length: .max)
    #expect(InotifyEvent.events(in: tooLong, tooLong.count).isEmpty)
    #expect(InotifyEvent.events(in: [], -1).isEmpty)
    #expect(InotifyEvent.events(in: one, 4096).count == 1)
  }
}
