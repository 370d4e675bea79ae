internal import ReachCore
internal import ReachIO
internal import Synchronization

/// The one thread beside the event loop: it reads and writes files.
///
/// A regular file knows no readiness: epoll(7) refuses it, and a read or write of one takes as long as the disk takes,
/// which may be seconds. No probe may wait for that. So whatever touches the disk happens here, in the order in which it
/// was handed over, and the loop never waits for it: it hands work over under a lock that is held for an append, and
/// hears of what came of it by a job on the loop. Nothing else may run here.
final class StorageThread: Sendable {
  private struct Mailbox {
    var work = StorageWork()
    var isSignalled = false
  }

  private let mailbox = Mutex(Mailbox())
  private let call: WakeUpCall

  /// A thread that has not begun. Throws what eventfd(2) failed with.
  init() throws(SystemError) { call = try WakeUpCall() }

  /// Hands work over. From any thread; never waits for the disk.
  func hand(_ body: (inout StorageWork) -> Void) {
    let mustSignal = mailbox.withLock { mailbox in
      body(&mailbox.work)
      defer { mailbox.isSignalled = true }
      return !mailbox.isSignalled
    }
    if mustSignal { call.make() }
  }

  /// Takes all that has been handed over, waiting for it until `due` at most. On the thread itself.
  func take(waitingUntil due: Instant, now: Instant) -> StorageWork {
    call.wait(for: due.since(now))
    return mailbox.withLock { mailbox in
      defer { mailbox = Mailbox() }
      return mailbox.work
    }
  }
}

/// What the loop hands over at once.
struct StorageWork {
  /// Changes in their order, each with its number, which grows by one.
  var changes: [StateChange] = []
  /// The number of the first of them.
  var firstNumber: UInt64 = 0
  /// Targets as they stand, after something was lost.
  var refresh: [TargetRecord] = []
  /// The number of the first change that is newer than these.
  var refreshedUpTo: UInt64 = 0
  /// Targets that are to be watched from now on, with who wants to know what is known of them.
  var adoptions: [StorageAdoption] = []
  /// The names of targets that are watched no more.
  var released: [String] = []
  /// Questions, in their order.
  var questions: [StorageQuestion] = []
  /// Set when it is time to end.
  var end: StorageEnd?
}

/// Asks for the newest transitions of a target, or of all.
struct StorageQuestion: Sendable {
  let target: String?
  let limit: Int
  /// Called on the storage thread.
  let answer: @Sendable ([Transition]) -> Void
}

/// Asks what is known of targets that are to be watched from now on.
struct StorageAdoption: Sendable {
  let targets: [Target]
  /// Called on the storage thread.
  let answer: @Sendable ([String: RestoredTarget]) -> Void
}

/// The end of the thread.
struct StorageEnd: Sendable {
  /// The targets as they stand at a clean stop; nil where there is none.
  let records: [TargetRecord]?
  /// Called on the storage thread when all that could be kept is.
  let done: @Sendable () -> Void
}
