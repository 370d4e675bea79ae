internal import Glibc
internal import ReachCore
internal import ReachIO

/// The folder that `state_dir` names, and the files in it.
struct StateFolder: Hashable, Sendable {
  /// Its absolute path.
  let path: String

  /// The database. SQLite keeps two more beside it, with `-wal` and `-shm` behind the name.
  var database: String { path + "/state.db" }
  /// What the agent holds a lock on while it runs.
  private var lockFile: String { path + "/state.lock" }

  private static let companions = ["", "-wal", "-shm"]

  /// Makes the folder when it does not exist; the one above it must.
  func make() throws(StateProblem) {
    guard unsafe mkdir(path, 0o755) != 0, errno != EEXIST else { return }
    let code = FaultCode(errno: errno)
    throw StateProblem(
      "state_dir \(path) cannot be made (\(code.name)): transitions and counters are kept in memory only",
      remedy: code.errno == ENOENT ? "make the folder above it, or name another state_dir" : permission(code))
  }

  /// Holds the folder for this process for as long as the descriptor is open (flock(2)). The kernel lets go of it when
  /// the process ends, however it does.
  func lock() throws(StateProblem) -> Descriptor {
    let number = unsafe open(lockFile, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
    guard number >= 0 else { throw refusal(FaultCode(errno: errno)) }
    let descriptor = Descriptor(owning: number)
    guard flock(number, LOCK_EX | LOCK_NB) == 0 else { throw refusal(FaultCode(errno: errno)) }
    let text = Array("\(getpid())\n".utf8)
    _ = ftruncate(descriptor.number, 0)
    _ = unsafe pwrite(descriptor.number, text, text.count, 0)
    return descriptor
  }

  /// Lets go of the folder.
  static func unlock(_ number: Int32) { _ = flock(number, LOCK_UN) }

  private func refusal(_ code: FaultCode) -> StateProblem {
    guard code.errno == EWOULDBLOCK else {
      return StateProblem(
        "state_dir \(path) cannot be written (\(code.name)): transitions and counters are kept in memory only",
        remedy: permission(code))
    }
    let holder = SmallFile.text(of: lockFile).flatMap { Int32($0.prefix { $0.isASCII && $0.isNumber }) }
    return StateProblem(
      "state_dir \(path) is in use by another agent" + (holder.map { ", process \($0)" } ?? "")
        + ": transitions and counters are kept in memory only",
      remedy: "give each agent a state_dir of its own")
  }

  private func permission(_ code: FaultCode) -> String {
    code.errno == EROFS && Surroundings.current == .plain
      ? "name a state_dir on a file system that may be written"
      : Surroundings.current.remedy(for: .writing(path)) + "; or name another state_dir"
  }

  /// Renames the database and its companions together, so that they can still be opened, and returns the new name.
  /// Nothing is ever deleted or written over. `wall` is in nanoseconds since 1970 UTC.
  func setAside(at wall: Int64) throws(SystemError) -> String {
    let stamp = Timestamp(nanosecondsSinceEpoch: wall).description.filter { $0.isNumber || $0 == "T" }.prefix(15)
    for attempt in 0..<1_000 {
      let name = "\(database).aside-\(stamp)" + (attempt == 0 ? "" : "-\(attempt)")
      guard Self.companions.allSatisfy({ unsafe access(name + $0, F_OK) != 0 }) else { continue }
      for companion in Self.companions {
        guard unsafe rename(database + companion, name + companion) != 0, errno != ENOENT else { continue }
        throw SystemError.current("rename")
      }
      return name
    }
    throw SystemError("rename", FaultCode(errno: EEXIST))
  }

  /// Whether this user may write to the database's file.
  var isDatabaseWritable: Bool { unsafe access(database, W_OK) == 0 }

  /// What tells the database's file from another of the same name; nil when there is none.
  var databaseIdentity: FileIdentity? {
    var information = stat()
    guard unsafe stat(database, &information) == 0 else { return nil }
    return FileIdentity(device: UInt64(information.st_dev), inode: UInt64(information.st_ino))
  }
}

/// A file, whatever its name (stat(2)).
struct FileIdentity: Hashable, Sendable {
  let device: UInt64
  let inode: UInt64
}

/// Files of a line or two.
enum SmallFile {
  /// The first bytes of a file as text; nil when it cannot be read.
  static func text(of path: String) -> String? {
    let number = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard number >= 0 else { return nil }
    let descriptor = Descriptor(owning: number)
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = unsafe read(descriptor.number, &bytes, bytes.count)
    return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
  }

  /// Which start of the machine this is (random(4)); empty where the kernel does not say.
  static func bootID() -> String {
    let text = text(of: "/proc/sys/kernel/random/boot_id") ?? ""
    return String(text.prefix { $0 != "\n" })
  }
}
