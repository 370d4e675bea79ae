internal import Glibc
internal import ReachCore

/// What is watched for the sake of files: folders, each for the entries that matter, and the files themselves.
struct FileWatches: Sendable {
  private var folders: [Int32: Set<String>] = [:]
  private var files: Set<Int32> = []
  /// Why something could not be watched; the first such reason.
  private(set) var failure: SystemError?

  /// The numbers of all watches.
  var numbers: Set<Int32> { files.union(folders.keys) }

  /// Watches a folder for one entry.
  mutating func add(folder: String, for entry: String, to notifier: (any FolderNotifier)?) {
    guard let watch = add(folder, Inotify.folderMask, to: notifier) else { return }
    folders[watch, default: []].insert(entry)
  }

  /// Watches a file that its folder is watched for too.
  mutating func add(file: String, to notifier: (any FolderNotifier)?) {
    guard let watch = add(file, Inotify.fileMask, to: notifier) else { return }
    files.insert(watch)
  }

  private mutating func add(_ path: String, _ mask: UInt32, to notifier: (any FolderNotifier)?) -> Int32? {
    guard let notifier else { return nil }
    do throws(SystemError) {
      return try notifier.add(path, mask)
    } catch {
      switch error.code.errno {
      // Gone in this moment: the folder above tells of that.
      case ENOENT, ENOTDIR: break
      // A file that may not be read has its folder to tell of it.
      case EACCES where mask == Inotify.fileMask: break
      default: failure = failure ?? error
      }
      return nil
    }
  }

  /// Whether an event may mean a change of one of the files.
  func isConcerned(by event: InotifyEvent) -> Bool {
    if event.isOverflow || files.contains(event.watch) { return true }
    guard let entries = folders[event.watch] else { return false }
    return event.name.isEmpty || entries.contains(event.name)
  }
}
