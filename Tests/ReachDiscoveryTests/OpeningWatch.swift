import Glibc
import ReachIO

/// Sees whether somebody opens a file from now on.
final class OpeningWatch {
  private let descriptor: Descriptor

  init(of path: String) throws {
    descriptor = Descriptor(
      owning: try retryingInterrupts("inotify_init1") { inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK)) })
    _ = try retryingInterrupts("inotify_add_watch") {
      unsafe inotify_add_watch(descriptor.number, path, UInt32(IN_OPEN))
    }
  }

  /// Whether that has happened since this was asked last.
  var wasOpened: Bool {
    var buffer = [UInt8](repeating: 0, count: 4096)
    return unsafe read(descriptor.number, &buffer, buffer.count) > 0
  }
}
