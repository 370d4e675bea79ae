internal import ReachConfig

/// Reads the files of one source, and remembers what they held, so that a file that is as it was costs no more than a look
/// at it. It blocks for as long as the disk takes, and belongs on a thread of its own once the loop runs.
struct FileReading: Sendable {
  /// How closely to look.
  enum Look: Int, Comparable {
    /// At the files that have another stamp than before.
    case changed
    /// At every file, for what leaves no trace in a stamp.
    case everything

    static func < (first: Look, second: Look) -> Bool { first.rawValue < second.rawValue }
  }

  /// What became of one file.
  enum Finding: Sendable {
    case list(AssembledList)
    /// As it was, and fit to be used.
    case same
    case failure(String)
    case gone
  }

  private struct Memory {
    let hash: Int
    let isGood: Bool
    /// nil when it may have changed since without another stamp.
    let stamp: TargetFileStamp?
  }

  let files: TargetFiles
  private let assembler: TargetAssembler
  private var known: [String: Memory] = [:]

  init(_ files: TargetFiles, _ assembler: TargetAssembler) {
    self.files = files
    self.assembler = assembler
  }

  /// The files that there are, or that may be, in the order of the patterns; at most `TargetFile.countLimit`.
  func paths() -> [String] {
    var seen: Set<String> = []
    return Array(
      files.paths.flatMap(TargetFile.matching).filter { seen.insert($0).inserted }.prefix(TargetFile.countLimit))
  }

  /// The folders whose entries decide which files there are.
  static func folders(of files: TargetFiles) -> [String] {
    var seen: Set<String> = []
    return files.paths.map { path in
      guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
      return slash == path.startIndex ? "/" : String(path[..<slash])
    }.filter { seen.insert($0).inserted }
  }

  /// What a look at the files came to.
  struct Outcome: Sendable {
    /// Of each file that there is something to say of.
    var findings: [(path: String, finding: Finding)] = []
    /// Whether there is no file at all.
    var isEmpty = true
  }

  /// Reads these files. One that was there the time before and is not any more is gone. There is nothing to say of one
  /// that could not be used and has not changed.
  mutating func read(_ paths: [String], _ look: Look) -> Outcome {
    let before = known
    var outcome = Outcome()
    known = [:]
    for path in paths where TargetFile.exists(path) {
      outcome.isEmpty = false
      if let finding = read(path, before[path], look) { outcome.findings.append((path, finding)) }
    }
    for path in before.keys.sorted() where known[path] == nil { outcome.findings.append((path, .gone)) }
    return outcome
  }

  private mutating func read(_ path: String, _ before: Memory?, _ look: Look) -> Finding? {
    guard let format = TargetFileFormat(path: path) else { return .gone }
    if look == .changed, let before, let stamp = before.stamp, stamp == TargetFile.stamp(of: path) {
      known[path] = before
      return before.isGood ? .same : nil
    }
    var hash = 0
    var stamp: TargetFileStamp?
    do throws(ValueError) {
      let contents = try TargetFile.contents(of: path)
      hash = contents.bytes.hashValue
      stamp = contents.stamp
      if let before, before.isGood, before.hash == hash {
        known[path] = Memory(hash: hash, isGood: true, stamp: stamp)
        return .same
      }
      let list = try TargetGroupList(parsing: contents.bytes, as: format)
      known[path] = Memory(hash: hash, isGood: true, stamp: stamp)
      return .list(assembler.assembled(list))
    } catch {
      known[path] = Memory(hash: hash, isGood: false, stamp: stamp)
      return .failure(error.description)
    }
  }
}
