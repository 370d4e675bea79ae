internal import ReachConfig
internal import ReachCore
internal import ReachHTTP
internal import ReachIO
internal import ReachMetrics
internal import ReachNetlink
internal import ReachProbe
internal import ReachState

/// What the agent serves: each path with what answers it, from the board as it stands. No request but `/probe` causes a
/// probe.
struct Endpoint: Sendable {
  let board: TargetBoard
  let host: ProbeHost
  let store: StateStore
  let probes: ProbeService
  let inForce: LoopConfined<InForce>
  let reloader: Reloader
  let discovery: DiscoveryInForce
  let droppedLogLines: @Sendable () -> UInt64

  var routes: HTTPRoutes {
    var routes = HTTPRoutes()
    routes.add("/") { _ in
      let page = StatusPage(
        version: BuildInformation.version, targets: board.targets.map(\.view), probes: probes.history)
      return HTTPResponse(contentType: "text/html; charset=utf-8", body: .bytes(page.bytes))
    }
    routes.add("/metrics", metrics)
    routes.add("/-/healthy") { _ in .text("reachd is healthy\n") }
    routes.add("/-/ready") { _ in
      board.isReady ? .text("reachd is ready\n") : .text("the first round has not ended\n", status: 503)
    }
    routes.add("/-/reload", methods: ["POST", "PUT"], later: reload)
    routes.add("/api/v1/targets") { _ in
      let list = ListSource(board.targets) { $0.view.write(to: &$1) }
      return HTTPResponse(contentType: "application/json", body: .chunks(list))
    }
    routes.add("/api/v1/transitions", later: transitions)
    routes.add("/probe", later: probes.probe)
    routes.add("/logs", probes.logs)
    routes.add("/config") { _ in
      guard let configuration = inForce.withState({ $0.text }) else {
        return .text("there was no memory to keep the configuration\n", status: 503)
      }
      return HTTPResponse(contentType: "text/plain; charset=utf-8", body: configuration.body)
    }
    return routes
  }

  /// Has the configuration read again, and answers with what came of it.
  private func reload(_ request: HTTPRequest, _ reply: HTTPReply) {
    guard inForce.withState({ $0.isReloadAllowed(by: request.listener) }) else {
      return reply.send(
        .text("the configuration is not read again at this address: see web.reload in it\n", status: 403))
    }
    reloader.request(.request) { outcome in
      let lines = outcome.problems + (outcome.isInForce ? ["in force: \(outcome.summary)"] : [])
      reply.send(
        .text(lines.joined(separator: "\n") + "\n", status: outcome.isInForce ? 200 : 500))
    }
  }

  /// The newest transitions, of one target or of all. The storage thread reads them.
  private func transitions(_ request: HTTPRequest, _ reply: HTTPReply) {
    var limit = Self.transitionsAtOnce.standard
    if let text = request.parameter("limit") {
      guard let number = Int(text), number > 0 else {
        return reply.send(.text("limit takes a whole number from 1 to \(Self.transitionsAtOnce.most)\n", status: 400))
      }
      limit = min(number, Self.transitionsAtOnce.most)
    }
    store.newest(limit, of: request.parameter("target")) { found in
      guard let found else { return reply.send(.text("the state cannot be read now; try again\n", status: 503)) }
      reply.send(
        HTTPResponse(contentType: "application/json", body: .chunks(ListSource(found) { $0.write(to: &$1) })))
    }
  }

  private static let transitionsAtOnce = (standard: 100, most: 10_000)

  func exposition(in format: ExpositionFormat) -> Exposition {
    let counters = host.links.counters
    let agent = board.agent.withState { agent in
      for (type, count) in counters.messages { agent.setNetlinkMessages(type: type, count: count) }
      agent.netlinkOverruns = counters.overruns
      agent.netlinkResyncs = counters.resyncs
      agent.logDropped = droppedLogLines()
      agent.sources = discovery.series
      agent.stateLost = store.isPersistent ? store.lost : nil
      agent.moduleUnknown = probes.unknownModules
      if format == .protobuf { agent.keepNativeHistograms() }
      return agent
    }
    let links = host.links.links.map { link in
      LinkSample(
        interface: link.name, medium: link.medium, operState: link.operState,
        isUp: host.links.finding(index: link.index)?.state == .usable, carrierChanges: link.carrierChanges)
    }
    return Exposition(
      targets: board.targets.map(\.series), agent: agent, links: links, process: .current(), format: format,
      at: host.loop.now())
  }
}

/// A JSON array, written piece by piece.
private struct ListSource<Element>: ChunkSource {
  private static var elementsPerPiece: Int { 32 }

  let elements: [Element]
  let write: (Element, inout JSONWriter) -> Void
  private var position = 0
  private var isEnded = false

  init(_ elements: [Element], _ write: @escaping (Element, inout JSONWriter) -> Void) {
    self.elements = elements
    self.write = write
  }

  mutating func next(into bytes: inout [UInt8]) -> Bool {
    if isEnded { return false }
    var json = JSONWriter(appendingTo: bytes)
    if position == 0 { json.beginArray() }
    let end = min(elements.count, position + Self.elementsPerPiece)
    if position > 0 { json.continueList() }
    for element in elements[position..<end] { write(element, &json) }
    position = end
    if position == elements.count {
      json.endArray()
      json.endLine()
      isEnded = true
    }
    bytes = json.bytes
    return true
  }
}

extension ReachHTTP.ListenAddress {
  /// The address that the configuration names.
  init(_ address: ReachConfig.ListenAddress) {
    switch address {
    case .tcp(let host?, let port): self = .address(host, port: port)
    case .tcp(nil, let port): self = .anyAddress(port: port)
    case .unix(let path): self = .unix(path: path)
    }
  }
}
