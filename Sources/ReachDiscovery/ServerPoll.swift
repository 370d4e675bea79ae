internal import ReachConfig
internal import ReachCore
internal import ReachIO

/// Asks one server for targets, as Prometheus's `http_sd` does: a list in JSON, with status 200 and that content type.
struct ServerQuestion: Sendable {
  let endpoint: TargetEndpoint
  let userAgent: String
  let loop: EventLoop
  /// The name servers that are asked for the server's address; nil: the system's.
  var nameServers: String?

  /// The most redirects that are followed.
  private static let redirectLimit = 5
  /// The longest time for one answer, redirects included.
  private static let longest = Duration.seconds(30)

  /// The body of the answer. Throws when there is none that can be used; no message holds a secret.
  func ask(by client: HTTPClient) async throws(HTTPFailure) -> [UInt8] {
    let deadline = loop.now().advanced(by: min(endpoint.refresh, Self.longest))
    var url = endpoint.url
    for _ in 0...Self.redirectLimit {
      let question = try await question(for: url, until: deadline)
      let answer = try await client.ask(question)
      switch answer.status {
      case 200:
        guard Self.isJSON(answer.contentType) else {
          let type = answer.contentType.map { "'\(String($0.prefix(64)))'" } ?? "missing"
          throw HTTPFailure(message: "the answer's content type is \(type), not application/json")
        }
        return answer.body
      case 301, 302, 303, 307, 308:
        guard let target = answer.redirect else {
          throw HTTPFailure(message: "the server answered with status \(answer.status), which leads nowhere")
        }
        do throws(ValueError) {
          url = try HTTPURL(parsing: target)
        } catch {
          throw HTTPFailure(message: "the server's redirect leads to what cannot be used: \(error)")
        }
      default: throw HTTPFailure(message: "the server answered with status \(answer.status), not 200")
      }
    }
    throw HTTPFailure(message: "the server redirects more than \(Self.redirectLimit) times")
  }

  private func question(for url: HTTPURL, until deadline: Instant) async throws(HTTPFailure) -> HTTPQuestion {
    let resolved = try await resolved(url, until: deadline)
    let left = deadline.since(loop.now())
    guard left > .zero else { throw HTTPFailure(message: "Timeout was reached") }
    var question = HTTPQuestion(url: url.text, resolved: resolved, userAgent: userAgent, timeout: left)
    question.headers = [
      "Accept: application/json",
      "X-Prometheus-Refresh-Interval-Seconds: \(Self.seconds(endpoint.refresh))",
    ]
    // What the one server may be told is no business of another that it leads to.
    guard url.hasSameOrigin(as: endpoint.url) else { return question }
    switch endpoint.authorization {
    case .basic(let username, let file)?: question.basic = (username, try secret(file))
    case .credentials(let type, let file)?: question.headers.append("Authorization: \(type) \(try secret(file))")
    case nil: break
    }
    question.authorityFile = endpoint.tls.authorityFile.map(endpoint.path)
    question.certificateFile = endpoint.tls.certificateFile.map(endpoint.path)
    question.keyFile = endpoint.tls.keyFile.map(endpoint.path)
    question.skipsVerification = endpoint.tls.skipsVerification
    return question
  }

  private func secret(_ file: String) throws(HTTPFailure) -> String {
    let path = endpoint.path(of: file)
    do throws(ValueError) {
      return try TargetFile.secret(in: path)
    } catch {
      throw HTTPFailure(message: "the secret in \(path) cannot be used: \(error)")
    }
  }

  /// Whom the URL's name leads to, as libcurl takes it.
  private func resolved(_ url: HTTPURL, until deadline: Instant) async throws(HTTPFailure) -> String? {
    guard case .name(let name) = url.host else { return nil }
    let addresses: [IPAddress]
    do throws(LookupFailure) {
      addresses = try await NameLookup.addresses(of: name, servers: nameServers, until: deadline, on: loop)
    } catch {
      throw HTTPFailure(message: "the name \(name) cannot be resolved: \(error.message)")
    }
    guard !addresses.isEmpty else { throw HTTPFailure(message: "the name \(name) has no address") }
    let list = addresses.prefix(16).map { $0.family == .ipv6 ? "[\($0)]" : "\($0)" }
    return "\(name):\(url.port):\(list.joined(separator: ","))"
  }

  /// Whether a content type is JSON's, whatever its parameters.
  static func isJSON(_ type: String?) -> Bool {
    guard let type = type?.split(separator: ";", maxSplits: 1).first else { return false }
    let word = type.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
    return word.lowercased() == "application/json"
  }

  /// A duration in seconds, as Prometheus writes it.
  static func seconds(_ duration: Duration) -> String {
    let milliseconds = duration.components.attoseconds / 1_000_000_000_000_000
    guard milliseconds > 0 else { return "\(duration.components.seconds)" }
    var fraction = String(1000 + milliseconds).dropFirst()
    while fraction.hasSuffix("0") { fraction = fraction.dropLast() }
    return "\(duration.components.seconds).\(fraction)"
  }
}
