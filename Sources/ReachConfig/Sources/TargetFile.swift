internal import Glibc
internal import ReachIO
internal import ReachCore

/// Files that a source names, and what is in them.
public enum TargetFile {
  /// The most files of one source that are read.
  public static let countLimit = 1_000
  /// The most octets of a secret.
  private static let secretLimit = 64 << 10

  /// The files that a path means (glob(3)), in the order of their names: those that match, or that very one.
  ///
  /// Blocks for as long as the folder takes to be listed. A path without wildcards is returned whether there is such a
  /// file or not. Names that begin with a dot match only a pattern that does.
  public static func matching(_ pattern: String) -> [String] {
    let isPlain = !pattern.utf8.contains { "*?[\\".utf8.contains($0) }
    if isPlain { return [pattern] }
    var found = unsafe glob_t()
    defer { unsafe globfree(&found) }
    guard unsafe glob(pattern, 0, nil, &found) == 0 else { return [] }
    return (0..<min(Int(clamping: unsafe found.gl_pathc), countLimit)).compactMap { index in
      unsafe found.gl_pathv[index].map { unsafe String(cString: $0) }
    }
  }

  /// The octets of a file. Throws when it is no regular file, cannot be read, or has more than `limit` octets.
  ///
  /// Blocks for as long as the disk takes, never for a writer: a FIFO is refused.
  public static func bytes(of path: String, limit: Int = TargetGroupList.sizeLimit) throws(ValueError) -> [UInt8] {
    try contents(of: path, limit: limit).bytes
  }

  /// What `bytes` returns, with the stamp of the state that was read; nil when the file has changed so lately that it may
  /// change again and have the same stamp.
  public static func contents(
    of path: String, limit: Int = TargetGroupList.sizeLimit
  ) throws(ValueError) -> (bytes: [UInt8], stamp: TargetFileStamp?) {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw failure(errno) }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw failure(errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw ValueError("it is no regular file; name one") }
    let stamp = TargetFileStamp(status, settledAt: WallClock.nanosecondsSinceEpoch())
    let size = max(0, Int(clamping: status.st_size))
    var bytes: [UInt8] = []
    // One octet more than there are finds the end. A file that is written to, or of /proc, has more than it says.
    var room = size
    while size <= limit, bytes.count <= limit {
      room = max(room, 4095) + 1
      let piece = try piece(of: descriptor, room)
      if bytes.isEmpty { bytes = piece } else { bytes += piece }
      if piece.count < room { break }
    }
    guard max(size, bytes.count) <= limit else { throw ValueError("it is larger than \(limit >> 10) KiB; split it") }
    return (bytes, stamp)
  }

  /// So many octets, or fewer when the file ends before.
  private static func piece(of descriptor: Int32, _ most: Int) throws(ValueError) -> [UInt8] {
    var fault: Int32 = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: most) { buffer, count in
      while count < most {
        let step = unsafe read(descriptor, buffer.baseAddress?.advanced(by: count), most - count)
        if step < 0, errno == EINTR { continue }
        if step < 0 { fault = errno }
        if step <= 0 { return }
        count += step
      }
    }
    guard fault == 0 else { throw failure(fault) }
    return bytes
  }

  /// The stamp of the file at this path as it is now; nil when it cannot be seen. Blocks for as long as the disk takes.
  public static func stamp(of path: String) -> TargetFileStamp? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    return TargetFileStamp(status)
  }

  /// The text of a file that holds a password or a token, without the line end behind it. What is thrown shows nothing
  /// of it.
  public static func secret(in path: String) throws(ValueError) -> String {
    var bytes = try bytes(of: path, limit: secretLimit)
    while let last = bytes.last, last == 0x0a || last == 0x0d { bytes.removeLast() }
    guard !bytes.isEmpty else { throw ValueError("it is empty; write the secret into it") }
    guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
      throw ValueError("it holds more than one line or a control character; write the secret alone into it")
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Whether the errno says that there is no such file, rather than one that cannot be read.
  private static func failure(_ number: Int32) -> ValueError {
    switch number {
    case ENOENT, ENOTDIR: ValueError("there is no such file; write it, or mend the path")
    case EACCES: ValueError("it may not be read; give this user the right to read it, and its folders")
    default: ValueError("it cannot be read: \(unsafe String(cString: strerror(number)))")
    }
  }

  /// Whether there is something at this path, which may be unreadable.
  public static func exists(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 || (errno != ENOENT && errno != ENOTDIR)
  }
}

/// A problem with one entry of a file of targets, or with the whole file.
public struct TargetFileProblem: Hashable, Sendable, CustomStringConvertible {
  /// The file's path.
  public let file: String
  /// What is wrong.
  public let problem: EntryProblem
  /// `FILE: entry N: warning: MESSAGE`.
  public var description: String {
    let place = problem.entry.map { "\(file): entry \($0)" } ?? file
    return "\(place): warning: \(problem.message)"
  }
}

extension Configuration {
  /// What is wrong with the files that `targets_from` names, as they are now, and the targets that they hold beside the
  /// declared ones. A file that is not there yet is no problem. Blocks for as long as the disk takes.
  public func checkTargetFiles() -> (targets: [ConfiguredTarget], problems: [TargetFileProblem]) {
    var names = Set(targets.map(\.target.name))
    var targets: [ConfiguredTarget] = []
    var problems: [TargetFileProblem] = []
    for source in sources {
      guard case .files(let files) = source.place else { continue }
      let assembler = TargetAssembler(self, for: source)
      for file in files.paths.flatMap(TargetFile.matching) where TargetFile.exists(file) {
        guard let format = TargetFileFormat(path: file) else { continue }
        do throws(ValueError) {
          let found = assembler.targets(of: try TargetGroupList(parsing: try TargetFile.bytes(of: file), as: format))
          problems += found.problems.map { TargetFileProblem(file: file, problem: $0) }
          for target in found.targets {
            if names.insert(target.target.name).inserted {
              targets.append(target)
              continue
            }
            let message = "the target \(quoted(target.target.name)) is left out: another of this name comes first"
            problems.append(TargetFileProblem(file: file, problem: EntryProblem(nil, message)))
          }
        } catch {
          problems.append(TargetFileProblem(file: file, problem: EntryProblem(nil, error.description)))
        }
      }
    }
    return (targets, problems)
  }
}
