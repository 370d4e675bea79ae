internal import Glibc
internal import ReachIO

/// What tells one state of a file from another without reading it: two of the same stamp hold the same.
///
/// It is device, inode, size and the times of the last write and the last change, which no program can set back
/// (inode(7)).
public struct TargetFileStamp: Hashable, Sendable {
  /// Two changes within one tick of the kernel's clock, 10 ms at most, have the same time.
  private static let tick: Int64 = 50_000_000

  private let device: UInt64
  private let inode: UInt64
  private let size: Int64
  private let written: Int64
  private let changed: Int64

  init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    size = Int64(status.st_size)
    written = FileTime.written(status)
    changed = FileTime.changed(status)
  }

  /// nil when the file has changed just before `now`, or after it by a clock that is another.
  init?(_ status: stat, settledAt now: Int64) {
    self.init(status)
    guard changed < now &- Self.tick else { return nil }
  }
}
