internal import ReachConfig
internal import ReachCore
internal import ReachHTTP
internal import ReachIO

/// Has the configuration read again whenever somebody asks, one time after the other.
///
/// The file is read and checked on a thread of its own, since a large one takes longer than any probe may wait; what it
/// says is put in force on the loop. Who asks while that goes on is answered by one more reading, which sees whatever was
/// written before they asked.
///
/// Isolation: on the event loop.
final class Reloader: Sendable {
  /// Why the configuration is read.
  enum Trigger {
    /// Somebody asked.
    case request
    /// The file seems to have changed: one whose content is as it was is left alone.
    case fileChange
  }

  /// What came of it.
  struct Outcome: Sendable {
    /// Whether the file holds now.
    var isInForce: Bool
    /// What that means, in one line; empty where it does not hold.
    var summary = ""
    /// Every problem, in the order of the file. Where it holds these are warnings.
    var problems: [String] = []
  }

  /// What was read.
  struct Reading: Sendable {
    let preparation: Preparation
    /// What is shown of it; nil when it has errors, or there is no memory for it.
    let text: KeptText?
  }

  typealias Read = @Sendable () -> Result<Reading, ConfigurationFileError>
  typealias Answer = @Sendable (Outcome) -> Void

  private struct State {
    var isBusy = false
    var waiting: [Answer] = []
    /// Whether anybody among those asks for more than a look.
    var isAsked = false
    /// nil once the file could not be read: whatever comes back is news.
    var lastContent: Int?
    weak var owner: (any ReloadOwner)?
  }

  private let loop: EventLoop
  private let file: String
  private let state: LoopConfined<State>

  /// A reloader of that file, whose content was `content` when it was read before.
  init(_ file: String, content: Int, on loop: EventLoop) {
    self.file = file
    self.loop = loop
    state = LoopConfined(State(lastContent: content), on: loop)
  }

  /// Says for whom the file is read.
  func serve(_ owner: any ReloadOwner) { state.withState { $0.owner = owner } }

  /// Has the configuration read, and calls `answer` with what came of it.
  func request(_ trigger: Trigger, _ answer: @escaping Answer = { _ in }) {
    let mustBegin = state.withState { state in
      state.waiting.append(answer)
      if trigger == .request { state.isAsked = true }
      defer { state.isBusy = true }
      return !state.isBusy
    }
    if mustBegin { loop.spawn { await self.run() } }
  }

  private func run() async {
    while let (answers, isAsked) = state.withState({ takeWaiting(&$0) }) {
      let outcome = await attempt(isAsked: isAsked)
      state.withState { $0.owner }?.reloadEnded(outcome)
      for answer in answers { answer(outcome ?? Outcome(isInForce: true)) }
    }
  }

  private func takeWaiting(_ state: inout State) -> (answers: [Answer], isAsked: Bool)? {
    guard !state.waiting.isEmpty else {
      state.isBusy = false
      return nil
    }
    defer { (state.waiting, state.isAsked) = ([], false) }
    return (state.waiting, state.isAsked)
  }

  /// Returns nil when there was nothing to do.
  private func attempt(isAsked: Bool) async -> Outcome? {
    guard let owner = state.withState({ $0.owner }) else { return nil }
    let read = owner.reloadBegins()
    let reading: Reading
    do {
      reading = try await loop.offload(read).get()
    } catch let error as SystemError {
      state.withState { $0.lastContent = nil }
      return Outcome(isInForce: false, problems: ["\(file): error: there is no thread to read it on (\(error))"])
    } catch {
      state.withState { $0.lastContent = nil }
      return Outcome(isInForce: false, problems: ["\(error)"])
    }
    let preparation = reading.preparation
    let hasChanged = state.withState { state in
      defer { state.lastContent = preparation.contentHash }
      return state.lastContent != preparation.contentHash
    }
    // An editor that empties the file and then writes it must not make every target vanish in between.
    guard isAsked || (hasChanged && !preparation.isEmpty) else { return nil }
    return await owner.put(inForce: reading)
  }
}

/// For whom a configuration is read again.
///
/// Isolation: on the event loop.
protocol ReloadOwner: AnyObject, Sendable {
  /// The file is about to be read, by what is returned, which is called on a thread of its own.
  func reloadBegins() -> Reloader.Read
  /// Puts in force what was read, or says why that cannot be; then nothing has changed.
  func put(inForce reading: Reloader.Reading) async -> Reloader.Outcome
  /// What came of it; nil when there was nothing to do.
  func reloadEnded(_ outcome: Reloader.Outcome?)
}

extension Reloader.Outcome {
  /// What is to be said of a configuration that was read: that it has errors, or only warnings.
  init(_ preparation: Preparation) {
    self.init(isInForce: preparation.configuration != nil, problems: preparation.problems.map(\.description))
  }
}
