internal import CReachLinux
public import Glibc

/// The times of a file, in nanoseconds since 1970 UTC, of what stat(2) says of it. They wrap around where that is no
/// `Int64`.
public enum FileTime {
  /// When it was last written (st_mtim).
  public static func written(_ status: stat) -> Int64 { nanoseconds(status.st_mtim) }

  /// When anything of it last changed (st_ctim).
  public static func changed(_ status: stat) -> Int64 { nanoseconds(status.st_ctim) }

  private static func nanoseconds(_ time: timespec) -> Int64 {
    Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}
