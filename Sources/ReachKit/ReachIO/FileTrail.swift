internal import Glibc
internal import ReachCore

/// What tells one state of a file from another without reading it.
struct FileStamp: Hashable, Sendable {
  /// Where the path leads, all symbolic links followed; as far as there is something, when there is no file.
  let realPath: String
  /// Why there is no file to be seen; nil when there is one.
  let missing: FaultCode?
  private let device: UInt64
  private let inode: UInt64
  private let size: Int64
  private let mode: UInt32
  private let modified: Int64

  fileprivate init(_ realPath: String, _ status: stat) {
    self.realPath = realPath
    missing = nil
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    size = Int64(status.st_size)
    mode = status.st_mode
    modified = Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
  }

  fileprivate init(_ realPath: String, missing code: FaultCode) {
    self.realPath = realPath
    missing = code
    (device, inode, size, mode, modified) = (0, 0, 0, 0, 0)
  }
}

/// The way from the root to a file, symbolic links followed one by one (path_resolution(7)): each folder on it, and the
/// entry there that leads on. Whatever makes the path mean another file is a change of one of these entries.
enum FileTrail {
  /// More links than this are a circle, as the kernel has it.
  private static let mostLinks = 40
  private static let root = "/"

  /// One folder on the way.
  struct Step: Hashable {
    let folder: String
    /// What is looked up there.
    let entry: String
    /// Whether that is the file, or a link to it, rather than a folder on the way.
    let isLast: Bool
  }

  /// Follows an absolute path. `visit` is called at each folder before the entry is looked up there, so that a watch that
  /// is set then misses nothing; `reach` for the file at the end, before it is looked at, or `enter` when that is a folder.
  static func follow(
    _ path: String, visit: (Step) -> Void, reach: (_ file: String) -> Void, enter: (_ folder: String) -> Void = { _ in }
  ) -> FileStamp {
    var ahead = components(of: path)
    var folder = root
    var links = 0
    while let entry = ahead.popLast() {
      if entry == ".." {
        folder = parent(of: folder)
        continue
      }
      visit(Step(folder: folder, entry: entry, isLast: ahead.isEmpty))
      let place = folder == root ? root + entry : folder + "/" + entry
      var status = stat()
      guard unsafe lstat(place, &status) == 0 else { return FileStamp(place, missing: FaultCode(errno: errno)) }
      switch status.st_mode & S_IFMT {
      case S_IFLNK:
        links += 1
        guard links <= mostLinks else { return FileStamp(place, missing: FaultCode(errno: ELOOP)) }
        guard let target = target(of: place) else { return FileStamp(place, missing: FaultCode(errno: errno)) }
        if target.utf8.first == UInt8(ascii: "/") { folder = root }
        ahead += components(of: target)
      case S_IFDIR where !ahead.isEmpty: folder = place
      default:
        guard ahead.isEmpty else { return FileStamp(place, missing: FaultCode(errno: ENOTDIR)) }
        if status.st_mode & S_IFMT == S_IFDIR { enter(place) } else { reach(place) }
        return stamp(place)
      }
    }
    return stamp(folder)
  }

  private static func stamp(_ place: String) -> FileStamp {
    var status = stat()
    guard unsafe lstat(place, &status) == 0 else { return FileStamp(place, missing: FaultCode(errno: errno)) }
    return FileStamp(place, status)
  }

  /// The components, the last one first.
  private static func components(of path: String) -> [String] {
    path.split(separator: "/").filter { $0 != "." }.map(String.init).reversed()
  }

  private static func parent(of folder: String) -> String {
    guard let slash = folder.lastIndex(of: "/"), slash != folder.startIndex else { return root }
    return String(folder[..<slash])
  }

  private static func target(of link: String) -> String? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink(link, &buffer, buffer.count)
    return count > 0 ? String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
  }
}
