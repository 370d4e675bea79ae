internal import Glibc
internal import ReachCore
internal import ReachIO
internal import ReachLog

extension LogEvent {
  /// That changes of files are noticed late, since events do not tell of them (inotify(7)), and what to do about it where
  /// this process runs. `changes` is the subject with its verb; `files` are those that are to be read.
  static func noticedLate(_ changes: String, _ limitation: SystemError, in files: String) -> LogEvent {
    let remedy =
      switch limitation.code.errno {
      case EACCES, EPERM: Surroundings.current.remedy(for: .reading(files))
      default: "raise fs.inotify.max_user_instances and fs.inotify.max_user_watches, or the limit of open files"
      }
    return .selfCheck(
      check: "inotify",
      problem: "\(changes) noticed up to 2 s late, since files cannot be watched: \(limitation)", remedy: remedy)
  }
}
