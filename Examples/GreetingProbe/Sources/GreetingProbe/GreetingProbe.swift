public import ReachCore
internal import ReachIO
public import ReachProbe

/// Connects to every address of a target and waits for the line that the service greets with, as SSH, SMTP, FTP, POP,
/// IMAP and MySQL do. A service that accepts connections and has hung is silent here, while its port is still open.
public struct GreetingProbe: ProbeBackend {
  private let port: UInt16?
  private let prefix: [UInt8]

  init(port: UInt16? = nil, prefix: [UInt8] = []) {
    self.port = port
    self.prefix = prefix
  }

  /// Observes the target: see `ProbeBackend`. Throws `not_probed` when no port is known, and `probe_error:EPERM` when
  /// this process may not bind its socket as the target asks.
  public func probe(_ target: Target, in context: ProbeContext) async throws(LocalFault) -> Evidence {
    guard let port = port ?? target.port else {
      throw LocalFault(
        .notProbed, detail: "no port: name one in the target, or set the greeting probe's option 'port'")
    }
    let plan = ConnectionPlan(to: target, port: port, in: context)
    let attempts = plan.attempts
    let findings = LoopConfined(
      [TCPFinding](repeating: TCPFinding(.notRun), count: context.candidates.count), on: context.host.loop)
    guard !attempts.isEmpty, context.deadline > context.host.loop.now() else {
      return .tcp(findings.withState { $0 })
    }
    // The round is entitled to one socket. What is spare is taken besides, so that addresses are tried side by side;
    // where nothing is, they are tried one after another and share the time.
    let spare = context.host.connections.take(upTo: attempts.count - 1)
    defer { context.host.connections.giveBack(spare) }
    let lanes = 1 + spare
    let turns = (attempts.count + lanes - 1) / lanes
    let fault = await withTaskGroup(of: LocalFault?.self) { group in
      for lane in 0..<lanes {
        let own = stride(from: lane, to: attempts.count, by: lanes).map { attempts[$0] }
        // On the loop, like everything: a child task without this would run on another thread.
        group.addTask(executorPreference: context.host.loop) {
          await run(own, from: plan.source, turns: turns, in: context, findings)
        }
      }
      return await group.reduce(nil) { $0 ?? $1 }
    }
    if let fault { throw fault }
    return .tcp(findings.withState { $0 })
  }

  /// Makes connections one after another; each has its share of the time.
  private func run(
    _ attempts: [ConnectionPlan.Attempt], from source: Conversation.Source, turns: Int, in context: ProbeContext,
    _ findings: LoopConfined<[TCPFinding]>
  ) async -> LocalFault? {
    let loop = context.host.loop
    let began = loop.now()
    let share = context.deadline.nanoseconds(since: began) / Int64(turns)
    for (turn, attempt) in attempts.enumerated() where !Task.isCancelled {
      let deadline = turn + 1 == turns ? context.deadline : began.advanced(byNanoseconds: share * Int64(turn + 1))
      var greeting = Greeting(beginningWith: prefix)
      do throws(LocalFault) {
        let conversation = Conversation(peer: attempt.peer, source: source, loop: loop)
        let finding = try await conversation.hold(&greeting, until: deadline)
        findings.withState { $0[attempt.index] = finding }
        context.log?.note(
          "\(attempt.peer.address) port \(attempt.peer.port): \(finding.result), greeting '\(greeting.line)'")
      } catch {
        return error
      }
    }
    return nil
  }
}
