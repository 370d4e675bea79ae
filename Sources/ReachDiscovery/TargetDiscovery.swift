public import ReachConfig
internal import ReachCore
public import ReachIO
internal import ReachProbe

/// Finds targets where `targets_from` says, for as long as the agent runs.
///
/// Isolation: on the event loop, or before it runs.
public final class TargetDiscovery: Sendable {
  /// Called on the loop with every target that is found and not declared, whenever they have changed.
  public typealias Handler = @Sendable (_ targets: [ConfiguredTarget]) -> Void

  struct State: Sendable {
    var board: DiscoveryBoard
    /// What another discovery knew, until it is on the board.
    var inherited: DiscoveryBoard?
    var files: [Int: FollowedFiles] = [:]
    /// The sources whose files are to be read before anything is told.
    var unread: Set<Int> = []
    var isTelling = false
    var patience: TimerID?
    var timers: [Int: TimerID] = [:]
    var tasks: [Task<Void, Never>] = []
    var flush: TimerID?
    var handler: Handler?
    var isStopped = false
  }

  /// Changes that come together are told together.
  private static let settle = Duration.milliseconds(100)
  /// For so long a disk that does not answer keeps the rest from being told.
  private static let longestWait = Duration.seconds(5)

  let sources: [TargetSource]
  let assemblers: [TargetAssembler]
  let userAgent: String
  let loop: EventLoop
  let watch: FileWatch
  let state: LoopConfined<State>
  private let report: @Sendable (DiscoveryEvent) -> Void

  /// Discovery for a configuration; nothing is read or asked before `start`. What `other` knows of sources that both have
  /// holds until these tell something newer, so that a reload loses no target; stop `other` afterwards.
  ///
  /// `report` is called on the loop with what is to be said.
  public init(
    _ configuration: Configuration, continuing other: TargetDiscovery? = nil, userAgent: String, on loop: EventLoop,
    report: @escaping @Sendable (DiscoveryEvent) -> Void
  ) {
    sources = configuration.sources
    self.userAgent = userAgent
    self.loop = loop
    self.report = report
    watch = FileWatch(on: loop)
    var board = DiscoveryBoard(configuration)
    assemblers = board.assemblers
    let known = other?.state.withState { $0.inherited ?? $0.board }
    if let known { board.adoptCounts(known) }
    state = LoopConfined(State(board: board, inherited: known), on: loop)
  }

  /// Calls `handler` with what there is once the files have been read, then again whenever it has changed. Before the loop
  /// runs that is before this returns; on the loop they are read on a thread of their own, and `handler` is called later.
  /// Servers and name servers are asked as soon as the loop runs. Call it once.
  public func start(_ handler: @escaping Handler) {
    state.withState { $0.handler = handler }
    followFolders()
    guard loop.isRunning else {
      state.withState { state in
        if let known = state.inherited { state.board.adopt(known) }
        state.inherited = nil
      }
      readFilesAtOnce()
      tell()
      return askServers()
    }
    loop.spawn { [weak self] in await self?.begin() }
  }

  /// Does on the loop what `start` does before it runs.
  private func begin() async {
    if let (board, known) = state.withState({ state in state.inherited.map { (state.board, $0) } }) {
      let adopted = await aside {
        var board = board
        board.adopt(known)
        return board
      }
      state.withState { state in
        state.board = adopted
        state.inherited = nil
      }
    }
    guard !state.withState({ $0.isStopped }) else { return }
    let patience = loop.schedule(at: loop.now().advanced(by: Self.longestWait)) { [weak self] in self?.tell() }
    state.withState { $0.patience = patience }
    for (index, _) in fileSources { state.withState { _ = $0.unread.insert(index) } }
    for (index, _) in fileSources { readFiles(index, .everything) }
    if fileSources.isEmpty { tell() }
    askServers()
  }

  private func askServers() {
    for (index, source) in sources.enumerated() {
      let task: Task<Void, Never>? =
        switch source.place {
        case .files: nil
        case .http(let endpoint): loop.spawn { [weak self] in await self?.poll(endpoint, index) }
        case .srv(let service): loop.spawn { [weak self] in await self?.poll(service, index) }
        }
      if let task { state.withState { $0.tasks.append(task) } }
    }
  }

  /// Ends everything; the handler is not called any more.
  public func stop() {
    watch.stop()
    let tasks = state.withState { state in
      state.isStopped = true
      state.handler = nil
      for timer in state.timers.values { loop.cancel(timer) }
      for timer in [state.flush, state.patience] { if let timer { loop.cancel(timer) } }
      (state.timers, state.flush, state.patience) = ([:], nil, nil)
      defer { state.tasks = [] }
      return state.tasks
    }
    for task in tasks { task.cancel() }
  }

  /// Looks now whether the files are others, as after the host was suspended.
  public func recheck() { for (index, _) in fileSources { readFiles(index, .changed) } }

  /// What is counted of each source, in their order.
  public var samples: [DiscoverySample] { state.withState { $0.board.samples } }

  /// Why changes of files are noticed late; nil while they are noticed at once.
  public var limitation: SystemError? { watch.limitation }

  // MARK: Together

  /// Changes the board, and has what comes of it told soon.
  func update(_ change: (inout DiscoveryBoard) -> Void) {
    state.withState { state in
      guard !state.isStopped else { return }
      change(&state.board)
      guard state.flush == nil, state.isTelling, state.handler != nil else { return }
      state.flush = loop.schedule(at: loop.now().advanced(by: Self.settle)) { [weak self] in self?.flush() }
    }
  }

  /// The files of a source have been read; once that is so of all, what there is is told.
  func hasRead(_ index: Int) {
    let isLast = state.withState { $0.unread.remove(index) != nil && $0.unread.isEmpty }
    if isLast { tell() }
  }

  /// Tells what there is for the first time.
  private func tell() {
    let (outcome, handler) = state.withState { state -> (DiscoveryBoard.Outcome?, Handler?) in
      guard !state.isTelling, !state.isStopped else { return (nil, nil) }
      if let patience = state.patience { loop.cancel(patience) }
      (state.isTelling, state.patience) = (true, nil)
      return (combine(&state), state.handler)
    }
    if let outcome { handler?(outcome.targets) }
  }

  private func flush() {
    let (outcome, handler) = state.withState { state -> (DiscoveryBoard.Outcome, Handler?) in
      state.flush = nil
      return (combine(&state), state.handler)
    }
    if outcome.hasChanged { handler?(outcome.targets) }
  }

  private func combine(_ state: inout State) -> DiscoveryBoard.Outcome {
    let outcome = state.board.combine()
    for event in outcome.events { report(event) }
    return outcome
  }

  /// Runs `body` on a thread of its own; on the loop where there is none to be had.
  func aside<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    do throws(SystemError) { return try await loop.offload(body) } catch { return body() }
  }
}
