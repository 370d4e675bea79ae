internal import ReachCore
internal import ReachIO

/// Looks at the passwords of requests, each once.
///
/// Isolation: on the event loop.
final class PasswordCheck: Sendable {
  /// What came of it.
  enum Answer: Sendable {
    case right, wrong
    /// Too many others wait.
    case busy
    /// There is no thread to look with.
    case impossible
  }

  private struct State {
    var maker: PasswordQuestion.Maker
    var memory = PasswordMemory()
    var waiting: [PasswordQuestion.Digest: [@Sendable (Answer) -> Void]] = [:]
    var thread: PasswordThread?
  }

  /// How many different questions may wait: some seconds' worth.
  private static let mostWaiting = 32

  private let loop: EventLoop
  private let salt: [UInt8]
  private let state: LoopConfined<State>

  /// Nobody is known yet.
  init(on loop: EventLoop) {
    self.loop = loop
    salt = (0..<32).map { _ in UInt8.random(in: 0...255) }
    state = LoopConfined(State(maker: PasswordQuestion.Maker([:], salt: salt)), on: loop)
  }

  /// Says who is known from now on. What was found stays: it was found of a hash, not of a user. Without anybody the
  /// thread ends.
  func setUsers(_ users: [String: String]) {
    let admitted = state.withState { state -> [@Sendable (Answer) -> Void] in
      state.maker = PasswordQuestion.Maker(users, salt: salt)
      guard users.isEmpty else { return [] }
      // Everybody may ask now, those too who wait.
      defer { (state.thread, state.waiting) = (nil, [:]) }
      return state.waiting.values.flatMap { $0 }
    }
    for answer in admitted { answer(.right) }
  }

  /// What is known of these credentials without a look; nil when that takes one.
  func knownAnswer(_ credentials: BasicCredentials) -> Bool? {
    state.withState { $0.memory.answer($0.maker.question(credentials).digest) }
  }

  /// Looks at credentials and calls `answer` on the loop, at once or later.
  func look(_ credentials: BasicCredentials, _ answer: @escaping @Sendable (Answer) -> Void) {
    let immediate: Answer? = state.withState { state in
      let question = state.maker.question(credentials)
      let digest = question.digest
      if let known = state.memory.answer(digest) { return known ? .right : .wrong }
      if state.waiting[digest] != nil {
        state.waiting[digest]?.append(answer)
        return nil
      }
      guard state.waiting.count < Self.mostWaiting else { return .busy }
      do throws(SystemError) {
        let thread = if let thread = state.thread { thread } else { try PasswordThread() }
        state.thread = thread
        state.waiting[digest] = [answer]
        thread.ask(question) { [weak self] isRight in self?.found(digest, isRight) }
        return nil
      } catch {
        return .impossible
      }
    }
    if let immediate { answer(immediate) }
  }

  /// On the thread.
  private func found(_ digest: PasswordQuestion.Digest, _ isRight: Bool) {
    loop.spawn { [self] in
      let waiting = state.withState { state in
        state.memory.note(digest, isRight: isRight)
        return state.waiting.removeValue(forKey: digest) ?? []
      }
      for answer in waiting { answer(isRight ? .right : .wrong) }
    }
  }
}
