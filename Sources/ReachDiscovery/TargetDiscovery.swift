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

  private struct State: Sendable {
    var board: DiscoveryBoard
    var readings: [Int: FileReading] = [:]
    var fileWatches: [Int: (id: Int, paths: [String])] = [:]
    var folderWatches: [Int] = []
    var timers: [Int: TimerID] = [:]
    var tasks: [Task<Void, Never>] = []
    var flush: TimerID?
    var handler: Handler?
    var isStopped = false
  }

  /// Changes that come together are told together.
  private static let settle = Duration.milliseconds(100)

  private let sources: [TargetSource]
  private let userAgent: String
  private let loop: EventLoop
  private let report: @Sendable (DiscoveryEvent) -> Void
  private let watch: FileWatch
  private let state: LoopConfined<State>

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
    if let known = other?.state.withState({ $0.board }) { board.adopt(known) }
    state = LoopConfined(State(board: board), on: loop)
  }

  /// Reads the files at once and calls `handler` with what there is, then again whenever it has changed. Servers and
  /// name servers are asked as soon as the loop runs. Call it once.
  public func start(_ handler: @escaping Handler) {
    for (index, source) in sources.enumerated() {
      if case .files(let files) = source.place { follow(files, index) }
    }
    let targets = state.withState { state -> [ConfiguredTarget] in
      state.handler = handler
      return combine(&state).targets
    }
    handler(targets)
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
      if let flush = state.flush { loop.cancel(flush) }
      (state.timers, state.flush) = ([:], nil)
      defer { state.tasks = [] }
      return state.tasks
    }
    for task in tasks { task.cancel() }
  }

  /// Looks at the files now, as after the host was suspended.
  public func recheck() {
    for (index, source) in sources.enumerated() {
      if case .files = source.place { readFiles(index) }
    }
  }

  /// What is counted of each source, in their order.
  public var samples: [DiscoverySample] { state.withState { $0.board.samples } }

  /// Why changes of files are noticed late; nil while they are noticed at once.
  public var limitation: SystemError? { watch.limitation }

  // MARK: Together

  /// Changes the board, and has what comes of it told soon.
  private func update(_ change: (inout DiscoveryBoard) -> Void) {
    state.withState { state in
      guard !state.isStopped else { return }
      change(&state.board)
      guard state.flush == nil, state.handler != nil else { return }
      state.flush = loop.schedule(at: loop.now().advanced(by: Self.settle)) { [weak self] in self?.flush() }
    }
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

  // MARK: Files

  private func follow(_ files: TargetFiles, _ index: Int) {
    let reading = FileReading(files)
    state.withState { $0.readings[index] = reading }
    let id = watch.add(reading.folders) { [weak self] _ in self?.readFiles(index) }
    state.withState { $0.folderWatches.append(id) }
    readFiles(index)
  }

  /// Reads the files of a source anew, and comes back after its interval whatever happens.
  private func readFiles(_ index: Int) {
    guard let reading = state.withState({ $0.isStopped ? nil : $0.readings[index] }) else { return }
    let paths = reading.paths()
    // Watched first and read then, so that no change falls between.
    watchFiles(paths, index)
    let findings = state.withState { $0.readings[index]?.read(paths) ?? [] }
    let time = WallClock.nanosecondsSinceEpoch()
    let isEmpty = !paths.contains(where: TargetFile.exists)
    update { board in
      for (path, finding) in findings {
        switch finding {
        case .list(let list): board.replace(index, path, by: list, at: time)
        case .same: board.confirm(index, path, at: time)
        case .failure(let problem): board.fail(index, path, problem)
        case .gone: board.remove(index, path)
        }
      }
      // Of what another discovery had read, something may be gone since.
      board.keep(index, only: Set(paths))
      board.note(index, isEmpty ? "there is no such file yet; write one, or mend the path" : nil)
    }
    state.withState { state in
      if let timer = state.timers[index] { loop.cancel(timer) }
      let due = loop.now().advanced(by: reading.files.refresh)
      state.timers[index] = loop.schedule(at: due) { [weak self] in self?.readFiles(index) }
    }
  }

  private func watchFiles(_ paths: [String], _ index: Int) {
    let old = state.withState { $0.fileWatches[index] }
    guard old?.paths != paths else { return }
    let id = paths.isEmpty ? nil : watch.add(paths) { [weak self] _ in self?.readFiles(index) }
    if let old { watch.remove(old.id) }
    state.withState { $0.fileWatches[index] = id.map { ($0, paths) } }
  }

  // MARK: Servers

  private func poll(_ endpoint: TargetEndpoint, _ index: Int) async {
    let origin = endpoint.url.withoutQuery
    let question = ServerQuestion(endpoint: endpoint, userAgent: userAgent, loop: loop)
    var client: HTTPClient?
    var pace = RefreshPace()
    var lastHash: Int?
    while !Task.isCancelled {
      var hasSucceeded = false
      do {
        let asked = try client ?? HTTPClient(on: loop, bodyLimit: TargetGroupList.sizeLimit)
        client = asked
        let body = try await question.ask(by: asked)
        let hash = body.hashValue
        let time = WallClock.nanosecondsSinceEpoch()
        if hash == lastHash {
          update { $0.confirm(index, origin, at: time) }
        } else {
          let list = try TargetGroupList(parsing: body, as: .json)
          update { $0.replace(index, origin, by: list, at: time) }
          lastHash = hash
        }
        hasSucceeded = true
      } catch {
        if Task.isCancelled { return }
        let problem = Self.message(error)
        update { $0.fail(index, origin, problem) }
      }
      let wait = pace.wait(afterSuccess: hasSucceeded, interval: endpoint.refresh, chance: Double.random(in: 0...1))
      if await loop.sleep(until: loop.now().advanced(by: wait)) == .cancelled { return }
    }
  }

  private static func message(_ error: any Error) -> String {
    switch error {
    case let failure as HTTPFailure: failure.message
    case let failure as LookupFailure: failure.message
    case let refusal as ServiceRecords.Refusal: refusal.message
    case let value as ValueError: value.description
    default: "it cannot be had"
    }
  }

  // MARK: SRV records

  private func poll(_ service: TargetService, _ index: Int) async {
    let origin = service.name.display
    let servers = service.servers.isEmpty ? nil : service.servers.map(Self.text).joined(separator: ",")
    var pace = RefreshPace()
    while !Task.isCancelled {
      var interval = service.refresh ?? RefreshPace.interval(ofTTL: nil)
      var hasSucceeded = false
      do {
        let message = try await NameLookup.records(
          ServiceRecords.type, of: service.name.query, servers: servers,
          until: loop.now().advanced(by: .seconds(20)), on: loop)
        let records: ServiceRecords? = if let message { try ServiceRecords(message) } else { nil }
        let list = TargetGroupList(targets: records?.targets ?? [])
        let time = WallClock.nanosecondsSinceEpoch()
        interval = service.refresh ?? RefreshPace.interval(ofTTL: records?.ttl)
        let isEmpty = list.groups.isEmpty
        update {
          $0.replace(index, origin, by: list, at: time)
          $0.note(index, isEmpty ? "the name has no SRV records now; make them, or mend the name" : nil)
        }
        hasSucceeded = true
      } catch {
        if Task.isCancelled { return }
        let problem = Self.message(error)
        update { $0.fail(index, origin, problem) }
      }
      let wait = pace.wait(afterSuccess: hasSucceeded, interval: interval, chance: Double.random(in: 0...1))
      if await loop.sleep(until: loop.now().advanced(by: wait)) == .cancelled { return }
    }
  }

  /// A name server as c-ares takes it.
  private static func text(_ endpoint: OptionEndpoint) -> String {
    let address = endpoint.address.family == .ipv6 ? "[\(endpoint.address)]" : "\(endpoint.address)"
    return "\(address):\(endpoint.port ?? 53)"
  }
}
