internal import CReachLinux
internal import Glibc
internal import ReachCore

/// Tells of changes in folders: inotify(7), or in tests what stands for it.
///
/// Isolation: on the event loop.
protocol FolderNotifier: Sendable {
  /// Becomes readable when there is something to tell.
  var number: Int32 { get }
  /// Begins to watch a folder's entries or, with `Inotify.fileMask`, one file. Returns the watch's number, the same for
  /// the same inode. Throws what inotify_add_watch(2) failed with.
  func add(_ path: String, _ mask: UInt32) throws(SystemError) -> Int32
  /// Ends a watch; one that has ended is left alone.
  func remove(_ watch: Int32)
  /// Takes what there is to tell, as read(2) does.
  func read(into buffer: inout [UInt8]) -> Int
}

/// One instance of inotify(7), non-blocking, closed on exec.
final class Inotify: FolderNotifier {
  private let descriptor: Descriptor
  var number: Int32 { descriptor.number }

  /// Entries that come, go, are renamed, rewritten or whose attributes change, and the folder's own end. IN_MODIFY is not
  /// among them: a file that is being written is looked at once its writer has closed it.
  static let folderMask = UInt32(
    IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF
      | IN_ONLYDIR)
  /// The same for a file. It is needed beside its folder's for one that is mounted in its place, as resolv.conf in a
  /// container is: the folder that tells of it is elsewhere then.
  static let fileMask = UInt32(IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)

  /// Throws what inotify_init1(2) failed with; EMFILE is also said of `fs.inotify.max_user_instances`.
  init() throws(SystemError) {
    descriptor = Descriptor(
      owning: try retryingInterrupts("inotify_init1") { inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK)) })
  }

  func add(_ path: String, _ mask: UInt32) throws(SystemError) -> Int32 {
    let number = number
    return try retryingInterrupts("inotify_add_watch") { unsafe inotify_add_watch(number, path, mask) }
  }

  func remove(_ watch: Int32) { _ = inotify_rm_watch(number, watch) }

  func read(into buffer: inout [UInt8]) -> Int {
    let number = number
    return unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(number, $0.baseAddress, $0.count) }
  }
}

/// One event of inotify(7).
struct InotifyEvent: Hashable, Sendable {
  /// The watch it came by; -1 for IN_Q_OVERFLOW.
  let watch: Int32
  let mask: UInt32
  /// The entry of the folder; empty for the watched thing itself.
  let name: String

  /// Events were lost, the queue being full.
  var isOverflow: Bool { mask & UInt32(IN_Q_OVERFLOW) != 0 }

  /// Reads the events in the first `count` octets; stops at one that goes past their end.
  static func events(in buffer: [UInt8], _ count: Int) -> [InotifyEvent] {
    let bytes = buffer.prefix(max(0, count))
    let headerSize = MemoryLayout<inotify_event>.size
    func word(_ offset: Int) -> UInt32 {
      var value: UInt32 = 0
      unsafe withUnsafeMutableBytes(of: &value) { unsafe $0.copyBytes(from: bytes[offset..<(offset + 4)]) }
      return value
    }
    var events: [InotifyEvent] = []
    var offset = 0
    while bytes.count - offset >= headerSize {
      let length = Int(word(offset + 12))
      guard length <= bytes.count - offset - headerSize else { break }
      let name = bytes[(offset + headerSize)..<(offset + headerSize + length)].prefix { $0 != 0 }
      events.append(
        InotifyEvent(
          watch: Int32(bitPattern: word(offset)), mask: word(offset + 4), name: String(decoding: name, as: UTF8.self)))
      offset += headerSize + length
    }
    return events
  }
}
