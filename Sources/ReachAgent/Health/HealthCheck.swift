internal import Glibc
internal import ReachBlackbox
internal import ReachCore
internal import ReachDiscovery
internal import ReachIO

/// What asking an agent for its health came to.
public struct HealthReport: Hashable, Sendable {
  /// Whether it lives: its event loop turns.
  public let isHealthy: Bool
  /// For people, in one line.
  public let text: String
}

/// Asks a running agent whether it is alive: what `reachd health` does.
public enum HealthCheck {
  /// Asks once, and returns what came of it. Blocks until then, no longer than `timeout` or a moment more. Needs no right
  /// but to connect to the agent, and opens no file but those that name resolution takes.
  public static func run(_ question: HealthQuestion, within timeout: Duration) -> HealthReport {
    let loop: EventLoop
    do throws(SystemError) { loop = try EventLoop() } catch {
      return HealthReport(isHealthy: false, text: "it cannot be asked, since there is no event loop: \(error)")
    }
    SignalWatch.ignoreBrokenPipes()
    let report = LoopConfined<HealthReport?>(nil, on: loop)
    loop.spawn {
      let deadline = loop.now().advanced(by: timeout)
      let found = await Inquiry(question: question, deadline: deadline, loop: loop).report()
      report.withState { $0 = found }
      loop.stop()
    }
    loop.run()
    return report.withState { $0 } ?? HealthReport(isHealthy: false, text: "it was not asked")
  }

  /// What an answer says of the agent. Who asks for a password, for a certificate or for patience lives, and a health
  /// check has none of them.
  static func judge(_ answer: StatusQuestion.Answer) -> (isHealthy: Bool, text: String) {
    switch answer {
    case .status(let status) where (200...299).contains(status): (true, "answers \(status)")
    case .status(401): (true, "answers 401: it asks for a password, and lives")
    case .status(429): (true, "answers 429: it has too many requests, and lives")
    case .status(let status): (false, "answers \(status), not 200")
    case .refusal(let why): (true, "lives, and takes no client without a certificate of its own (\(why))")
    }
  }
}

/// One check under way.
private struct Inquiry {
  let question: HealthQuestion
  let deadline: Instant
  let loop: EventLoop

  func report() async -> HealthReport {
    var places: [StatusQuestion.Place] = []
    switch question.place {
    case .unix(let path): places = [.unix(path: path)]
    case .addresses(let addresses, let port): places = addresses.map { place($0, port) }
    case .name(let name, let port):
      do throws(HostLookup.Failure) {
        places = try await HostLookup.addresses(of: name, until: deadline, on: loop).map { place($0, port) }
      } catch {
        return HealthReport(isHealthy: false, text: "\(error)")
      }
    }
    var last = ""
    for scheme in question.schemes {
      for place in places {
        let asked = StatusQuestion(
          place, isSecure: scheme == .https, host: question.host, path: question.path)
        let whom = name(place, scheme)
        do throws(StatusQuestion.Failure) {
          let (isHealthy, text) = HealthCheck.judge(try await asked.ask(until: deadline, on: loop))
          let report = HealthReport(isHealthy: isHealthy, text: whom + " " + text)
          // Where it is not known what is spoken, a refusal of the wrong kind is no answer yet.
          if isHealthy || scheme == question.schemes.last { return report }
          last = report.text
        } catch {
          last = "\(whom) cannot be reached: \(error)" + Self.remedy(error)
        }
      }
    }
    return HealthReport(isHealthy: false, text: last)
  }

  private func place(_ address: IPAddress, _ port: UInt16) -> StatusQuestion.Place {
    var scope: UInt32 = 0
    if let zone = address.zone { scope = unsafe UInt32(zone) ?? if_nametoindex(zone) }
    return .port(SocketAddress(address, port: port, scope: scope))
  }

  private func name(_ place: StatusQuestion.Place, _ scheme: HealthQuestion.Scheme) -> String {
    let origin =
      switch place {
      case .unix(let path): "unix:" + path
      case .port(let peer):
        "\(scheme)://" + (peer.address.family == .ipv6 ? "[\(peer.address)]" : "\(peer.address)") + ":\(peer.port)"
      }
    // What stands behind a question mark may be a secret.
    return origin + (question.path.split(separator: "?").first ?? "")
  }

  private static func remedy(_ failure: StatusQuestion.Failure) -> String {
    switch failure.connectError?.errno {
    case ECONNREFUSED, ENOENT:
      "; no agent listens there: is it running, and does web.listen or --listen name this place?"
    case EACCES: "; let this user write to the socket and search its folder"
    default: ""
    }
  }
}
