internal import ReachConfig
internal import ReachCore
internal import ReachIO
internal import ReachProbe

/// Sources that are asked time and again.
extension TargetDiscovery {
  func poll(_ endpoint: TargetEndpoint, _ index: Int) async {
    let origin = endpoint.url.withoutQuery
    let question = ServerQuestion(endpoint: endpoint, userAgent: userAgent, loop: loop)
    let assembler = assemblers[index]
    var client: HTTPClient?
    var pace = RefreshPace()
    var lastHash: Int?
    while !Task.isCancelled {
      var hasSucceeded = false
      do {
        let asked = try client ?? HTTPClient(on: loop, bodyLimit: TargetGroupList.sizeLimit)
        client = asked
        let body = try await question.ask(by: asked)
        let answer = await aside { [lastHash] in ServerAnswer(body, assembler, unless: lastHash) }
        let list = try answer.list.get()
        let time = WallClock.nanosecondsSinceEpoch()
        update { board in
          guard let list else { return board.confirm(index, origin, at: time) }
          board.replace(index, origin, by: list, at: time)
        }
        lastHash = answer.hash
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

  func poll(_ service: TargetService, _ index: Int) async {
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
        let list = assemblers[index].assembled(TargetGroupList(targets: records?.targets ?? []))
        let time = WallClock.nanosecondsSinceEpoch()
        interval = service.refresh ?? RefreshPace.interval(ofTTL: records?.ttl)
        let isEmpty = list.list.groups.isEmpty
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

/// What is in the body of a server's answer.
private struct ServerAnswer: Sendable {
  let hash: Int
  /// nil when it is the one of `lastHash`.
  let list: Result<AssembledList?, ValueError>

  init(_ body: [UInt8], _ assembler: TargetAssembler, unless lastHash: Int?) {
    hash = body.hashValue
    guard hash != lastHash else {
      list = .success(nil)
      return
    }
    list = Result { () throws(ValueError) in assembler.assembled(try TargetGroupList(parsing: body, as: .json)) }
  }
}
