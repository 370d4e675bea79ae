internal import ReachCore
internal import ReachIO
internal import Synchronization

/// The thread that looks at passwords, one after the other. It begins with the first of them and ends with this value.
///
/// A look takes tens of milliseconds of nothing but computing, by which every probe would be late on the event loop. The
/// thread lets all others go first. The loop hands a question over under a lock that is held for an append, and hears of
/// the answer by a job.
final class PasswordThread: Sendable {
  private struct Job: Sendable {
    let question: PasswordQuestion
    let answer: @Sendable (Bool) -> Void
  }

  private struct Mailbox {
    var jobs: [Job] = []
    var isEnded = false
  }

  private final class Post: Sendable {
    let mailbox = Mutex(Mailbox())
    let call: WakeUpCall
    init() throws(SystemError) { call = try WakeUpCall() }
  }

  private let post: Post

  /// Begins the thread. Throws when there is none to be had.
  init() throws(SystemError) {
    let post = try Post()
    self.post = post
    try WorkerThread.begin {
      WorkerThread.yieldToOthers()
      Self.work(post)
    }
  }

  deinit {
    post.mailbox.withLock { $0 = Mailbox(isEnded: true) }
    post.call.make()
  }

  /// Hands a question over. `answer` is called on the thread.
  func ask(_ question: PasswordQuestion, _ answer: @escaping @Sendable (Bool) -> Void) {
    post.mailbox.withLock { $0.jobs.append(Job(question: question, answer: answer)) }
    post.call.make()
  }

  private static func work(_ post: Post) {
    while true {
      let (jobs, isEnded) = post.mailbox.withLock { mailbox in
        defer { mailbox.jobs = [] }
        return (mailbox.jobs, mailbox.isEnded)
      }
      if isEnded { return }
      for job in jobs {
        if post.mailbox.withLock({ $0.isEnded }) { return }
        job.answer(job.question.isRight)
      }
      if jobs.isEmpty { post.call.wait(for: .seconds(3_600)) }
    }
  }
}
