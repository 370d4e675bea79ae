internal import ReachConfig
internal import ReachCore
internal import ReachIO
internal import ReachProbe

/// Connects to one address, and says and hears what the module wants.
struct TCPProber {
  let probe: ModuleProbe
  let module: TCPModule
  private var log: ProbeLogbook { probe.log }

  init(probe: ModuleProbe, module: TCPModule) {
    self.probe = probe
    self.module = module
  }

  func run(into metrics: inout ProbeMetrics) async -> ModuleProbe.Outcome {
    metrics.set(.failedDueToRegex, 0)
    metrics.set(.failedDueToBytes, 0)
    do throws(ProbeStop) {
      guard let port = probe.target.port else {
        log.note(.error, "Error splitting target address and port", ["err": "there is no port in the target"])
        throw .failure
      }
      let resolved = try await probe.resolve(module.addressing, port: port, into: &metrics)
      let dial = Dial(
        peer: resolved.address, addressing: module.addressing, target: probe.target, host: probe.host,
        deadline: probe.deadline)
      log.note(.info, module.usesTLS ? "Dialing TCP with TLS" : "Dialing TCP without TLS")
      let socket: Socket
      do throws(Dial.Failure) { socket = try await dial.connect() } catch {
        log.note(.error, "Error dialing TCP", ["err": "\(error.what)"])
        throw ProbeStop(outcome: error.fault.map { .fault($0) } ?? .failure)
      }
      defer { socket.close() }
      let stream = PlainStream(socket: socket, deadline: probe.deadline, loop: probe.host.loop)
      let conversation = Conversation(probe: probe, module: module, connection: stream)
      var secured: TLSStream?
      if module.usesTLS {
        do throws(StreamFailure) { secured = try await conversation.secure() } catch {
          log.note(.error, "Error dialing TCP", ["err": "\(error)"])
          throw .failure
        }
      }
      log.note(.info, "Successfully dialed")
      secured?.describe(into: &metrics)
      try await conversation.hold(over: secured ?? stream, into: &metrics)
      return .success
    } catch {
      return error.outcome
    }
  }
}
