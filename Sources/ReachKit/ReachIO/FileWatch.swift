internal import Glibc
internal import ReachCore

/// Tells when files change, by inotify(7) on the folders they are in.
///
/// What a path means is followed through every symbolic link, and each folder on the way is watched for the entry that
/// leads on: it is noticed when an editor or a package manager renames a new file into place, when a Kubernetes volume
/// exchanges its `..data`, when a folder is replaced, and when a file comes to be whose folder did not exist. A file is
/// watched itself too, since one that is mounted in its place is told of nowhere else. Its contents are not read: a
/// file has changed when device, inode, size, mode, time of modification or the place it was found at differ. A path that
/// leads to a folder is told whenever anything comes to that folder, leaves it or is rewritten in it.
///
/// A burst of changes comes to one call, 100 ms after the last of them and at most 1 s after the first. Lost events
/// (IN_Q_OVERFLOW) cost a look at every file. Where inotify is not to be had, or a file's folder may not be read, the
/// files are looked at every 2 s, and `limitation` says why. A file system that other hosts write to (NFS), and a mount over a path, are told by no event;
/// `recheck()` is for these.
///
/// Isolation: on the event loop, or before it runs.
public final class FileWatch: Sendable {
  /// Called on the loop with the paths that changed, as they were given.
  public typealias Handler = @Sendable (_ paths: [String]) -> Void

  private struct Subscription {
    let id: Int
    let paths: [(given: String, absolute: String)]
    let handler: Handler
  }

  private struct State {
    var notifier: (any FolderNotifier)?
    var readiness: EventLoop.Watch?
    var watches = FileWatches()
    var subscriptions: [Subscription] = []
    var lastID = 0
    var stamps: [String: FileStamp] = [:]
    /// The watches of whole folders that an event has come by since the last look.
    var touched: Set<Int32> = []
    var window = SettleWindow(settle: .milliseconds(100), cap: .seconds(1))
    var timer: TimerID?
    var poll: TimerID?
    var limitation: SystemError?
    var isStopped = false
  }

  private static let pollInterval = Duration.seconds(2)

  private let loop: EventLoop
  private let state: LoopConfined<State>
  private let open: @Sendable () throws(SystemError) -> any FolderNotifier

  /// A watch over nothing yet. It opens no descriptor before the first path is given.
  public convenience init(on loop: EventLoop) {
    self.init(on: loop) { () throws(SystemError) in try Inotify() }
  }

  init(on loop: EventLoop, notifier open: @escaping @Sendable () throws(SystemError) -> any FolderNotifier) {
    self.loop = loop
    self.open = open
    state = LoopConfined(State(), on: loop)
  }

  // MARK: Paths

  /// Why changes are noticed only every 2 s: what inotify(7) failed with, `EMFILE` or `ENOSPC` mostly, which the limits
  /// `fs.inotify.max_user_instances` and `fs.inotify.max_user_watches` lead to. nil while events tell of them.
  public var limitation: SystemError? { state.withState { $0.limitation } }

  /// Has `handler` called when any of these files changes, comes or goes from now on. A relative path is taken from the
  /// working directory of now. Returns what `remove(_:)` takes.
  @discardableResult
  public func add(_ paths: [String], _ handler: @escaping Handler) -> Int {
    state.withState { state in
      state.lastID &+= 1
      let paths = paths.map { (given: $0, absolute: Self.absolute($0)) }
      if !state.isStopped {
        state.subscriptions.append(Subscription(id: state.lastID, paths: paths, handler: handler))
      }
      begin(&state)
      return state.lastID
    }
  }

  /// Ends what `add` began.
  public func remove(_ id: Int) {
    state.withState { state in
      state.subscriptions.removeAll { $0.id == id }
      begin(&state)
    }
  }

  /// Looks at every file, and tells of what has changed at once.
  public func recheck() { check() }

  /// Ends everything; no handler is called any more.
  public func stop() {
    state.withState { state in
      state.isStopped = true
      state.subscriptions = []
      close(&state)
      for timer in [state.timer, state.poll] { if let timer { loop.cancel(timer) } }
      (state.timer, state.poll) = (nil, nil)
    }
  }

  // MARK: Events

  private func readEvents() {
    let now = loop.now()
    state.withState { state in
      guard let notifier = state.notifier else { return }
      var buffer = [UInt8](repeating: 0, count: 16_384)
      var matters = false
      // The queue is bounded by fs.inotify.max_queued_events; what is left wakes the loop again.
      for _ in 0..<64 {
        let count = notifier.read(into: &buffer)
        guard count > 0 else { break }
        for event in InotifyEvent.events(in: buffer, count) where state.watches.isConcerned(by: event) {
          matters = true
          // Two changes within one tick of the kernel's clock leave a folder's time as the first had it.
          if event.isOverflow {
            state.touched.formUnion(state.watches.whole)
          } else if state.watches.whole.contains(event.watch) {
            state.touched.insert(event.watch)
          }
        }
      }
      if matters { settle(&state, at: now) }
    }
  }

  private func settle(_ state: inout State, at now: Instant) {
    state.window.note(at: now)
    guard state.timer == nil, let due = state.window.due else { return }
    state.timer = loop.schedule(at: due) { [weak self] in self?.settled() }
  }

  private func settled() {
    let now = loop.now()
    let isOver = state.withState { state in
      state.timer = nil
      guard let due = state.window.due, due > now else { return true }
      state.timer = loop.schedule(at: due) { [weak self] in self?.settled() }
      return false
    }
    if isOver { check() }
  }

  // MARK: Looking

  /// Watches what is to be watched from now on, and leaves to a later look what has changed meanwhile.
  private func begin(_ state: inout State) {
    guard !state.isStopped else { return }
    let known = state.stamps
    _ = follow(&state)
    for (path, stamp) in known where state.stamps[path] != nil { state.stamps[path] = stamp }
    awaitPoll(&state)
  }

  /// Follows every path anew, watches what it leads through, and tells of what is another than before.
  private func check() {
    let calls = state.withState { state -> [(Handler, [String])] in
      guard !state.isStopped else { return [] }
      state.window.end()
      if let timer = state.timer { loop.cancel(timer) }
      state.timer = nil
      let changed = follow(&state)
      state.touched = []
      awaitPoll(&state)
      guard !changed.isEmpty else { return [] }
      return state.subscriptions.compactMap { subscription in
        let paths = subscription.paths.filter { changed.contains($0.absolute) }.map(\.given)
        return paths.isEmpty ? nil : (subscription.handler, paths)
      }
    }
    for (handler, paths) in calls { handler(paths) }
  }

  /// Returns the paths that mean another file than before.
  private func follow(_ state: inout State) -> Set<String> {
    state.limitation = nil
    openNotifier(&state)
    var watches = FileWatches()
    let notifier = state.notifier
    var stamps: [String: FileStamp] = [:]
    var changed: Set<String> = []
    for path in state.subscriptions.lazy.flatMap(\.paths).map(\.absolute) where stamps[path] == nil {
      var folder: Int32?
      let stamp = FileTrail.follow(path) {
        watches.add($0, to: notifier)
      } reach: {
        watches.add(file: $0, to: notifier)
      } enter: {
        folder = watches.add(whole: $0, to: notifier)
      }
      stamps[path] = stamp
      if let known = state.stamps[path], known != stamp { changed.insert(path) }
      if let folder, state.touched.contains(folder) { changed.insert(path) }
    }
    for watch in state.watches.numbers.subtracting(watches.numbers) { notifier?.remove(watch) }
    state.watches = watches
    state.stamps = stamps
    state.limitation = state.limitation ?? watches.failure
    return changed
  }

  private func openNotifier(_ state: inout State) {
    guard state.notifier == nil, !state.subscriptions.isEmpty else { return }
    do throws(SystemError) {
      let notifier = try open()
      state.readiness = try loop.watch(notifier.number, for: .readable) { [weak self] _ in self?.readEvents() }
      state.notifier = notifier
    } catch {
      state.limitation = error
    }
  }

  private func close(_ state: inout State) {
    if let readiness = state.readiness { loop.unwatch(readiness) }
    (state.readiness, state.notifier) = (nil, nil)
    state.watches = FileWatches()
  }

  private func awaitPoll(_ state: inout State) {
    if let poll = state.poll { loop.cancel(poll) }
    state.poll = nil
    guard state.limitation != nil else { return }
    state.poll = loop.schedule(at: loop.now().advanced(by: Self.pollInterval)) { [weak self] in self?.check() }
  }

  private static func absolute(_ path: String) -> String {
    guard path.utf8.first != UInt8(ascii: "/") else { return path }
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    guard unsafe getcwd(&buffer, buffer.count) != nil else { return "/" + path }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) + "/" + path
  }
}
