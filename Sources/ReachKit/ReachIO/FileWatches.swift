internal import Glibc
internal import ReachCore

/// What is watched for the sake of files: folders, each for the entries that matter, and the files themselves.
struct FileWatches: Sendable {
  private var folders: [Int32: Set<String>] = [:]
  private var files: Set<Int32> = []
  /// The folders that are watched for whatever is in them.
  private(set) var whole: Set<Int32> = []
  /// Why something could not be watched; the first such reason.
  private(set) var failure: SystemError?

  /// The numbers of all watches.
  var numbers: Set<Int32> { files.union(whole).union(folders.keys) }

  /// Watches a folder for one entry. A folder far above that may be passed through but not read (mode 711) goes
  /// unwatched: it is not for its sake that files are looked at.
  mutating func add(_ step: FileTrail.Step, to notifier: (any FolderNotifier)?) {
    let mask = Inotify.folderMask
    guard let watch = add(step.folder, mask, mayBeForbidden: !step.isLast, to: notifier) else { return }
    folders[watch, default: []].insert(step.entry)
  }

  /// Watches a file. One that may not be read has its folder to tell of it.
  mutating func add(file: String, to notifier: (any FolderNotifier)?) {
    guard let watch = add(file, Inotify.fileMask, mayBeForbidden: true, to: notifier) else { return }
    files.insert(watch)
  }

  /// Watches a folder for all that comes to it, leaves it or is rewritten in it. Returns the watch's number.
  mutating func add(whole folder: String, to notifier: (any FolderNotifier)?) -> Int32? {
    guard let watch = add(folder, Inotify.folderMask, mayBeForbidden: false, to: notifier) else { return nil }
    whole.insert(watch)
    return watch
  }

  private mutating func add(
    _ path: String, _ mask: UInt32, mayBeForbidden: Bool, to notifier: (any FolderNotifier)?
  ) -> Int32? {
    guard let notifier else { return nil }
    do throws(SystemError) {
      return try notifier.add(path, mask)
    } catch {
      switch error.code.errno {
      // Gone in this moment: the folder above tells of that.
      case ENOENT, ENOTDIR: break
      case EACCES where mayBeForbidden: break
      default: failure = failure ?? error
      }
      return nil
    }
  }

  /// Whether an event may mean a change of one of the files.
  func isConcerned(by event: InotifyEvent) -> Bool {
    if event.isOverflow || files.contains(event.watch) || whole.contains(event.watch) { return true }
    guard let entries = folders[event.watch] else { return false }
    return event.name.isEmpty || entries.contains(event.name)
  }
}
