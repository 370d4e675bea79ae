import CReachLinux
import Glibc
import ReachCore
import ReachTestSupport
import Synchronization
import Testing

@testable import ReachIO

/// Changes of real files, on virtual time: events are there as soon as the call that makes them has returned.
@Suite(.timeLimit(.minutes(4))) struct FileWatchTests {
  /// What a test has: the watch, a folder to write in, and the calls that came.
  private struct Stage: Sendable {
    let loop: EventLoop
    let clock: ManualClock
    let watch: FileWatch
    let folder: TestFolder
    let calls: LoopConfined<[[String]]>

    func path(_ name: String) -> String { folder.path + "/" + name }

    func follow(_ names: String...) {
      watch.add(names.map(path)) { paths in calls.withState { $0.append(paths) } }
    }

    /// Lets the events be read and a burst be over. Returns what was told since the last time, as names.
    func told() async -> [[String]] {
      await clock.advance(by: .milliseconds(100), on: loop)
      return calls.withState { calls in
        defer { calls = [] }
        return calls.map { $0.map { String($0.dropFirst(folder.path.utf8.count + 1)) } }
      }
    }

    func rename(_ old: String, _ new: String) { #expect(unsafe Glibc.rename(path(old), path(new)) == 0) }
    func remove(_ name: String) { #expect(unsafe unlink(path(name)) == 0) }
    func makeFolder(_ name: String) { #expect(unsafe mkdir(path(name), 0o755) == 0) }
    func link(_ name: String, to target: String) { #expect(unsafe symlink(target, path(name)) == 0) }
  }

  private func withStage(
    notifier: (@Sendable () throws(SystemError) -> any FolderNotifier)? = nil,
    _ body: @escaping @Sendable (Stage) async throws -> Void
  ) async throws {
    let clock = ManualClock()
    // A descriptor that another test's new process holds too is not closed when its writer closes it.
    try await withEventLoop(clock: clock, isolatesDescriptors: true) { loop in
      let watch = notifier.map { FileWatch(on: loop, notifier: $0) } ?? FileWatch(on: loop)
      let folder = try TestFolder()
      let stage = Stage(loop: loop, clock: clock, watch: watch, folder: folder, calls: LoopConfined([], on: loop))
      try await body(stage)
      watch.stop()
      #expect(loop.pendingTimers == 0)
    }
  }

  @Test("a file that is rewritten in place, renamed over, removed or made is told once for each burst")
  func followsFile() async throws {
    try await withStage { stage in
      try stage.folder.write("one", to: "f")
      stage.follow("f")
      #expect(await stage.told() == [])
      try stage.folder.write("two!", to: "f")
      #expect(await stage.told() == [["f"]])
      try stage.folder.write("three", to: "f.new")
      stage.rename("f.new", "f")
      #expect(await stage.told() == [["f"]])
      stage.remove("f")
      #expect(await stage.told() == [["f"]])
      try stage.folder.write("four", to: "f")
      #expect(await stage.told() == [["f"]])
      #expect(stage.watch.limitation == nil)
    }
  }

  @Test("an editor's way of saving, with its temporary files and its backup, is one call")
  func followsEditors() async throws {
    try await withStage { stage in
      try stage.folder.write("one", to: "f")
      stage.follow("f")
      try stage.folder.write("", to: "4913")
      stage.remove("4913")
      stage.rename("f", "f~")
      try stage.folder.write("", to: "f")
      await stage.clock.advance(by: .milliseconds(60), on: stage.loop)
      try stage.folder.write("two", to: "f")
      await stage.clock.advance(by: .milliseconds(60), on: stage.loop)
      #expect(stage.calls.withState { $0 } == [])
      stage.remove("f~")
      #expect(await stage.told() == [["f"]])
      #expect(await stage.told() == [])
    }
  }

  @Test("a burst that does not end is told of after a second")
  func boundsBursts() async throws {
    try await withStage { stage in
      stage.follow("f")
      for turn in 0..<11 {
        #expect(stage.calls.withState { $0 } == [])
        try stage.folder.write("\(turn)", to: "f")
        await stage.clock.advance(by: .milliseconds(95), on: stage.loop)
      }
      #expect(stage.calls.withState { $0.count } == 1)
    }
  }

  @Test("what comes back to what it was, and other files of the folder, are not told")
  func ignoresOthers() async throws {
    try await withStage { stage in
      try stage.folder.write("one", to: "f")
      stage.follow("f", "g")
      let turns = stage.loop.turns
      try stage.folder.write("x", to: "other")
      stage.rename("f", "f.old")
      stage.rename("f.old", "f")
      #expect(await stage.told() == [])
      #expect(stage.loop.turns > turns)
    }
  }

  @Test("links are followed at every step: of the file, of its folder, and when they are exchanged")
  func followsLinks() async throws {
    try await withStage { stage in
      stage.makeFolder("real")
      stage.makeFolder("real/etc")
      try stage.folder.write("one", to: "real/etc/conf.real")
      stage.link("real/etc/conf", to: "conf.real")
      stage.link("etc", to: "real/./etc/../etc")
      stage.follow("etc/conf")
      try stage.folder.write("two!", to: "real/etc/conf.real")
      #expect(await stage.told() == [["etc/conf"]])
      try stage.folder.write("two!", to: "real/etc/other")
      stage.remove("real/etc/conf")
      stage.link("real/etc/conf", to: stage.path("real/etc/other"))
      #expect(await stage.told() == [["etc/conf"]])
      try stage.folder.write("three", to: "real/etc/other")
      #expect(await stage.told() == [["etc/conf"]])
      try stage.folder.write("gone", to: "real/etc/conf.real")
      #expect(await stage.told() == [])
    }
  }

  @Test("a volume of Kubernetes that exchanges its ..data is told")
  func followsVolumes() async throws {
    try await withStage { stage in
      stage.makeFolder("..v1")
      try stage.folder.write("same", to: "..v1/f")
      stage.link("..data", to: "..v1")
      stage.link("f", to: "..data/f")
      stage.follow("f")
      for version in 2...4 {
        stage.makeFolder("..v\(version)")
        try stage.folder.write("same", to: "..v\(version)/f")
        stage.link("..data_tmp", to: "..v\(version)")
        stage.rename("..data_tmp", "..data")
        stage.remove("..v\(version - 1)/f")
        #expect(unsafe rmdir(stage.path("..v\(version - 1)")) == 0)
        #expect(await stage.told() == [["f"]])
      }
    }
  }

  @Test("a file whose folder does not exist yet is told when both have come, and the folder may be exchanged")
  func followsFolders() async throws {
    try await withStage { stage in
      stage.follow("a/b/f")
      stage.makeFolder("a")
      _ = await stage.told()
      stage.makeFolder("a/b")
      _ = await stage.told()
      try stage.folder.write("one", to: "a/b/f")
      #expect(await stage.told() == [["a/b/f"]])
      stage.makeFolder("c")
      stage.makeFolder("c/b")
      try stage.folder.write("one", to: "c/b/f")
      stage.rename("a", "old")
      stage.rename("c", "a")
      #expect(await stage.told() == [["a/b/f"]])
      try stage.folder.write("two!", to: "a/b/f")
      #expect(await stage.told() == [["a/b/f"]])
      try stage.folder.write("nobody's", to: "old/b/f")
      #expect(await stage.told() == [])
    }
  }

  @Test("links in a circle are no file until they are mended")
  func survivesCircles() async throws {
    try await withStage { stage in
      stage.link("f", to: "g")
      stage.link("g", to: "f")
      stage.follow("f")
      stage.remove("g")
      try stage.folder.write("one", to: "g")
      #expect(await stage.told() == [["f"]])
    }
  }

  @Test("each handler is told of its own files, none after it was taken back")
  func tellsEachItsOwn() async throws {
    try await withStage { stage in
      stage.follow("f", "g")
      let others = LoopConfined([[String]](), on: stage.loop)
      let id = stage.watch.add([stage.path("g"), stage.path("h")]) { paths in others.withState { $0.append(paths) } }
      for name in ["f", "g", "h"] { try stage.folder.write("one", to: name) }
      #expect(await stage.told() == [["f", "g"]])
      #expect(others.withState { $0 } == [[stage.path("g"), stage.path("h")]])
      stage.watch.remove(id)
      try stage.folder.write("two!", to: "g")
      #expect(await stage.told() == [["g"]])
      #expect(others.withState { $0.count } == 1)
    }
  }

  @Test("adding files neither tells of a change nor loses one")
  func addsQuietly() async throws {
    try await withStage { stage in
      try stage.folder.write("one", to: "f")
      stage.follow("f")
      try stage.folder.write("two!", to: "f")
      stage.follow("g")
      #expect(stage.calls.withState { $0 } == [])
      #expect(await stage.told() == [["f"]])
    }
  }

  @Test("without inotify, or with too few watches, files are looked at every two seconds, and the reason is said")
  func polls() async throws {
    for code in [EMFILE, ENOSPC] {
      try await withStage(notifier: code == EMFILE ? noInotify : exhaustedInotify) { stage in
        stage.follow("f")
        #expect(stage.watch.limitation?.code.errno == code)
        try stage.folder.write("one", to: "f")
        #expect(await stage.told() == [])
        await stage.clock.advance(by: .seconds(2), on: stage.loop)
        #expect(await stage.told() == [["f"]])
        #expect(stage.watch.limitation?.code.errno == code)
      }
    }
  }

  @Test("when inotify is to be had again the files are looked at no more")
  func recovers() async throws {
    let isExhausted = Mutex(true)
    @Sendable func open() throws(SystemError) -> any FolderNotifier {
      if isExhausted.withLock({ $0 }) { throw SystemError("inotify_init1", FaultCode(errno: EMFILE)) }
      return try Inotify()
    }
    try await withStage(notifier: open) { stage in
      stage.follow("f")
      isExhausted.withLock { $0 = false }
      await stage.clock.advance(by: .seconds(2), on: stage.loop)
      #expect(stage.watch.limitation == nil)
      #expect(stage.loop.pendingTimers == 0)
      try stage.folder.write("one", to: "f")
      #expect(await stage.told() == [["f"]])
    }
  }

  @Test("lost events have every file looked at")
  func survivesOverflow() async throws {
    let notifiers = Mutex<[SilentNotifier]>([])
    @Sendable func open() throws(SystemError) -> any FolderNotifier {
      let notifier = try SilentNotifier()
      notifiers.withLock { $0.append(notifier) }
      return notifier
    }
    try await withStage(notifier: open) { stage in
      stage.follow("f")
      try stage.folder.write("one", to: "f")
      #expect(await stage.told() == [])
      notifiers.withLock { $0 }.first?.overflow()
      #expect(await stage.told() == [["f"]])
    }
  }

  @Test("a look that is asked for finds what no event tells of")
  func rechecks() async throws {
    try await withStage(notifier: silentNotifier) { stage in
      stage.follow("f")
      stage.watch.recheck()
      try stage.folder.write("one", to: "f")
      stage.watch.recheck()
      #expect(stage.calls.withState { $0 } == [[stage.path("f")]])
    }
  }

  @Test("a file mounted in another's place is told, though its folder is elsewhere")
  func followsMounts() async throws {
    // A hard link stands for the mount: it too is written by a name that no folder on the way knows.
    try await withStage { stage in
      try stage.folder.write("one", to: "f")
      stage.makeFolder("elsewhere")
      #expect(unsafe Glibc.link(stage.path("f"), stage.path("elsewhere/f")) == 0)
      stage.follow("f")
      try stage.folder.write("two!", to: "elsewhere/f")
      #expect(await stage.told() == [["f"]])
    }
  }

  @Test(
    "a folder is told of whatever comes to it, leaves it or is rewritten in it, at once and however soon after another")
  func followsFolder() async throws {
    try await withStage { stage in
      stage.follow("d")
      #expect(await stage.told() == [])
      stage.makeFolder("d")
      #expect(await stage.told() == [["d"]])
      try stage.folder.write("one", to: "d/f.tmp")
      #expect(await stage.told() == [["d"]])
      stage.rename("d/f.tmp", "d/f")
      #expect(await stage.told() == [["d"]])
      try stage.folder.write("two", to: "d/f")
      #expect(await stage.told() == [["d"]])
      try stage.folder.write("three", to: "other")
      #expect(await stage.told() == [])
      stage.remove("d/f")
      #expect(await stage.told() == [["d"]])
      stage.rename("d", "e")
      #expect(await stage.told() == [["d"]])
    }
  }

  @Test("a thousand events are read in a few turns of the loop and come to one call")
  func survivesStorms() async throws {
    try await withStage { stage in
      stage.follow("f")
      for turn in 0..<1_000 { try stage.folder.write("\(turn)", to: turn % 2 == 0 ? "f" : "g") }
      #expect(await stage.told() == [["f"]])
    }
  }
}

@Sendable private func noInotify() throws(SystemError) -> any FolderNotifier {
  throw SystemError("inotify_init1", FaultCode(errno: EMFILE))
}

@Sendable private func exhaustedInotify() throws(SystemError) -> any FolderNotifier { try ExhaustedNotifier() }

/// One that has no watch left.
private final class ExhaustedNotifier: FolderNotifier {
  private let inotify: Inotify
  init() throws(SystemError) { inotify = try Inotify() }
  var number: Int32 { inotify.number }
  func add(_ path: String, _ mask: UInt32) throws(SystemError) -> Int32 {
    throw SystemError("inotify_add_watch", FaultCode(errno: ENOSPC))
  }
  func remove(_ watch: Int32) {}
  func read(into buffer: inout [UInt8]) -> Int { inotify.read(into: &buffer) }
}

@Sendable private func silentNotifier() throws(SystemError) -> any FolderNotifier { try SilentNotifier() }

/// One that says nothing but what a test has it say.
private final class SilentNotifier: FolderNotifier {
  private let counter: Descriptor

  init() throws(SystemError) {
    counter = Descriptor(
      owning: try retryingInterrupts("eventfd") { eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)) })
  }

  var number: Int32 { counter.number }
  func add(_ path: String, _ mask: UInt32) throws(SystemError) -> Int32 { Int32(path.utf8.count) }
  func remove(_ watch: Int32) {}

  /// Says that events were lost.
  func overflow() {
    var one: UInt64 = 1
    #expect(unsafe write(number, &one, 8) == 8)
  }

  func read(into buffer: inout [UInt8]) -> Int {
    var count: UInt64 = 0
    guard unsafe Glibc.read(number, &count, 8) == 8 else { return -1 }
    var event = inotify_event()
    event.wd = -1
    event.mask = UInt32(IN_Q_OVERFLOW)
    let bytes = unsafe withUnsafeBytes(of: &event) { unsafe Array($0) }
    buffer.replaceSubrange(0..<bytes.count, with: bytes)
    return bytes.count
  }
}
