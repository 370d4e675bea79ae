internal import ReachConfig
internal import ReachCore
internal import ReachHTTP
internal import ReachIO
internal import ReachMetrics
internal import ReachNetlink
internal import ReachProbe

/// What the agent serves: each path with what answers it, all from the board as it stands. No request causes a probe.
struct Endpoint: Sendable {
  let board: TargetBoard
  let host: ProbeHost
  let droppedLogLines: @Sendable () -> UInt64

  var routes: HTTPRoutes {
    var routes = HTTPRoutes()
    routes.add("/") { _ in
      let page = StatusPage(version: BuildInformation.version, targets: board.targets.map(\.view))
      return HTTPResponse(contentType: "text/html; charset=utf-8", body: .bytes(page.bytes))
    }
    routes.add("/metrics") { _ in
      HTTPResponse(contentType: Exposition.contentType, body: .chunks(ExpositionSource(exposition: exposition())))
    }
    routes.add("/-/healthy") { _ in .text("reachd is healthy\n") }
    routes.add("/-/ready") { _ in
      board.isReady ? .text("reachd is ready\n") : .text("the first round has not ended\n", status: 503)
    }
    routes.add("/api/v1/targets") { _ in
      HTTPResponse(contentType: "application/json", body: .chunks(TargetListSource(targets: board.targets)))
    }
    return routes
  }

  private func exposition() -> Exposition {
    let counters = host.links.counters
    let agent = board.agent.withState { agent in
      for (type, count) in counters.messages { agent.setNetlinkMessages(type: type, count: count) }
      agent.netlinkOverruns = counters.overruns
      agent.netlinkResyncs = counters.resyncs
      agent.logDropped = droppedLogLines()
      return agent
    }
    let links = host.links.links.map { link in
      LinkSample(
        interface: link.name, medium: link.medium, operState: link.operState,
        isUp: host.links.finding(index: link.index)?.state == .usable, carrierChanges: link.carrierChanges)
    }
    return Exposition(
      targets: board.targets.map(\.series), agent: agent, links: links, process: .current(), at: host.loop.now())
  }
}

/// The exposition as a body that is written piece by piece.
private struct ExpositionSource: ChunkSource {
  var exposition: Exposition
  mutating func next(into bytes: inout [UInt8]) -> Bool { exposition.next(into: &bytes) }
}

/// The JSON array of all targets, written piece by piece.
private struct TargetListSource: ChunkSource {
  private static let targetsPerPiece = 32

  let targets: [WatchedTarget]
  private var position = 0
  private var isEnded = false

  init(targets: [WatchedTarget]) { self.targets = targets }

  mutating func next(into bytes: inout [UInt8]) -> Bool {
    if isEnded { return false }
    var json = JSONWriter(appendingTo: bytes)
    if position == 0 { json.beginArray() }
    let end = min(targets.count, position + Self.targetsPerPiece)
    if position > 0 { json.continueList() }
    for watched in targets[position..<end] { watched.view.write(to: &json) }
    position = end
    if position == targets.count {
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
