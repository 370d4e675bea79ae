internal import ReachConfig
internal import ReachCore
internal import ReachIO

/// The files of one source, as they are followed.
struct FollowedFiles: Sendable {
  var reading: FileReading
  /// What is watched of them.
  var watch: (id: Int, paths: [String])?
  /// Whether they are being read.
  var isBusy = false
  /// How they are to be looked at next; nil when they need not be.
  var wanted: FileReading.Look?
}

/// Sources that are files. They are read on a thread of their own, one source by one thread at a time.
extension TargetDiscovery {
  var fileSources: [(index: Int, files: TargetFiles)] {
    sources.enumerated().compactMap { index, source in
      if case .files(let files) = source.place { (index, files) } else { nil }
    }
  }

  /// Watches the folders whose entries decide which files there are.
  func followFolders() {
    for (index, files) in fileSources {
      let reading = FileReading(files, assemblers[index])
      state.withState { $0.files[index] = FollowedFiles(reading: reading) }
      watch.add(FileReading.folders(of: files)) { [weak self] _ in self?.readFiles(index, .changed) }
    }
  }

  /// Reads all files on the calling thread.
  func readFilesAtOnce() {
    for (index, _) in fileSources {
      guard var reading = state.withState({ $0.files[index]?.reading }) else { continue }
      let paths = reading.paths()
      watchFiles(paths, index)
      let outcome = reading.read(paths, .everything)
      take(outcome, of: paths, by: reading, index, .everything)
    }
  }

  /// Has the files of a source read. What is asked for while they are being read leads to one more reading.
  func readFiles(_ index: Int, _ look: FileReading.Look) {
    let isFree = state.withState { state -> Bool in
      // Nothing is read before what was inherited is on the board.
      guard !state.isStopped, state.inherited == nil, let followed = state.files[index] else { return false }
      state.files[index]?.wanted = max(followed.wanted ?? look, look)
      state.files[index]?.isBusy = true
      return !followed.isBusy
    }
    if isFree { loop.spawn { [weak self] in await self?.readWhileWanted(index) } }
  }

  private func readWhileWanted(_ index: Int) async {
    while let (reading, look) = nextReading(index) {
      let paths = await aside { reading.paths() }
      // Watched first and read then, so that no change falls between.
      watchFiles(paths, index)
      let (outcome, read) = await aside {
        var reading = reading
        let outcome = reading.read(paths, look)
        return (outcome, reading)
      }
      take(outcome, of: paths, by: read, index, look)
    }
  }

  private func nextReading(_ index: Int) -> (FileReading, FileReading.Look)? {
    state.withState { state in
      guard !state.isStopped, let followed = state.files[index], let look = followed.wanted else {
        state.files[index]?.isBusy = false
        return nil
      }
      state.files[index]?.wanted = nil
      return (followed.reading, look)
    }
  }

  /// Puts on the board what was read, and comes back after the source's interval whatever happens.
  private func take(
    _ outcome: FileReading.Outcome, of paths: [String], by reading: FileReading, _ index: Int,
    _ look: FileReading.Look
  ) {
    let isStopped = state.withState { state in
      state.files[index]?.reading = reading
      return state.isStopped
    }
    guard !isStopped else { return }
    let time = WallClock.nanosecondsSinceEpoch()
    update { board in
      for (path, finding) in outcome.findings {
        switch finding {
        case .list(let list): board.replace(index, path, by: list, at: time)
        case .same: board.confirm(index, path, at: time)
        case .failure(let problem): board.fail(index, path, problem)
        case .gone: board.remove(index, path)
        }
      }
      // Of what another discovery had read, something may be gone since.
      board.keep(index, only: Set(paths))
      board.note(index, outcome.isEmpty ? "there is no such file yet; write one, or mend the path" : nil)
    }
    if look == .everything { awaitRefresh(reading.files.refresh, index) }
    hasRead(index)
  }

  private func awaitRefresh(_ interval: Duration, _ index: Int) {
    state.withState { state in
      if let timer = state.timers[index] { loop.cancel(timer) }
      let due = loop.now().advanced(by: interval)
      state.timers[index] = loop.schedule(at: due) { [weak self] in self?.readFiles(index, .everything) }
    }
  }

  private func watchFiles(_ paths: [String], _ index: Int) {
    let (old, isStopped) = state.withState { ($0.files[index]?.watch, $0.isStopped) }
    guard !isStopped, old?.paths != paths else { return }
    let id = paths.isEmpty ? nil : watch.add(paths) { [weak self] _ in self?.readFiles(index, .changed) }
    if let old { watch.remove(old.id) }
    state.withState { $0.files[index]?.watch = id.map { ($0, paths) } }
  }
}
