internal import ReachConfig

/// Reads the files of one source, and remembers what they held, so that a file that is as it was costs no more than its
/// reading.
struct FileReading: Sendable {
  /// What became of one file.
  enum Finding {
    case list(TargetGroupList)
    /// As it was, and fit to be used.
    case same
    case failure(String)
    case gone
  }

  private enum Memory: Hashable {
    case good(Int)
    case bad(Int)
  }

  let files: TargetFiles
  private var known: [String: Memory] = [:]

  init(_ files: TargetFiles) { self.files = files }

  /// The files that there are, or that may be, in the order of the patterns; at most `TargetFile.countLimit`.
  func paths() -> [String] {
    var seen: Set<String> = []
    return Array(
      files.paths.flatMap(TargetFile.matching).filter { seen.insert($0).inserted }.prefix(TargetFile.countLimit))
  }

  /// The folders whose entries decide which files there are.
  var folders: [String] {
    var seen: Set<String> = []
    return files.paths.map { path in
      guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
      return slash == path.startIndex ? "/" : String(path[..<slash])
    }.filter { seen.insert($0).inserted }
  }

  /// Reads these files. One that was there the time before and is not any more is gone.
  mutating func read(_ paths: [String]) -> [(path: String, finding: Finding)] {
    let before = known
    var findings: [(path: String, finding: Finding)] = []
    known = [:]
    for path in paths where TargetFile.exists(path) { findings.append((path, read(path, before[path]))) }
    for path in before.keys.sorted() where known[path] == nil { findings.append((path, .gone)) }
    return findings
  }

  private mutating func read(_ path: String, _ before: Memory?) -> Finding {
    guard let format = TargetFileFormat(path: path) else { return .gone }
    var hash = 0
    do throws(ValueError) {
      let bytes = try TargetFile.bytes(of: path)
      hash = bytes.hashValue
      if before == .good(hash) {
        known[path] = before
        return .same
      }
      let list = try TargetGroupList(parsing: bytes, as: format)
      known[path] = .good(hash)
      return .list(list)
    } catch {
      known[path] = .bad(hash)
      return .failure(error.description)
    }
  }
}
