internal import ReachCore
internal import ReachIO

/// Decides whose request is answered, before anything looks at what it asks for. One for all addresses of a server.
///
/// Isolation: on the event loop.
final class HTTPGate: Sendable {
  /// What a request comes to.
  enum Admission {
    case admitted
    case refused(HTTPResponse)
    /// The password must be looked at.
    case asked(BasicCredentials)
  }

  /// What is in force.
  struct Rules {
    fileprivate var policy = HTTPPolicy()
    fileprivate var credentials: TLSCredentials?
    fileprivate var bucket: TokenBucket?

    /// Whether connections speak TLS.
    var isSecure: Bool { credentials != nil }
  }

  private let loop: EventLoop
  private let state: LoopConfined<Rules>
  private let passwords: PasswordCheck

  /// A gate that is open.
  init(on loop: EventLoop) {
    self.loop = loop
    state = LoopConfined(Rules(), on: loop)
    passwords = PasswordCheck(on: loop)
  }

  /// Fields for the header of every answer.
  var headers: [HTTPRequest.Field] { state.withState { $0.policy.headers } }

  /// What is in force.
  var rules: Rules {
    get { state.withState { $0 } }
    set {
      state.withState { $0 = newValue }
      passwords.setUsers(newValue.policy.users)
    }
  }

  /// Whether connections speak TLS.
  var isSecure: Bool { state.withState { $0.credentials != nil } }

  /// What holds for a connection that begins now; nil without TLS.
  func withCredentials<Result>(_ body: (TLSCredentials?) -> Result) -> Result {
    state.withState { body($0.credentials) }
  }

  /// Puts a policy in force at once, and returns what about it may not be as it is meant. Throws why its certificate
  /// cannot be used; the one before is then still in force.
  func apply(_ policy: HTTPPolicy) throws(TLSProblem) -> [TLSProblem] {
    let settings = policy.tls
    return try state.withState { state throws(TLSProblem) in
      let credentials = try settings.map { settings throws(TLSProblem) in try TLSCredentials(settings) }
      if policy.rateLimit != state.policy.rateLimit {
        state.bucket = policy.rateLimit.map { TokenBucket(interval: $0.interval, burst: $0.burst) }
      }
      state.policy = policy
      state.credentials = credentials
      passwords.setUsers(policy.users)
      return credentials?.warnings ?? []
    }
  }

  /// Looks at a request whose head has arrived.
  func admit(_ request: HTTPRequest) -> Admission {
    let (isWithinLimit, pause, isOpen) = state.withState { state in
      let isWithinLimit = state.bucket?.take(at: loop.now()) ?? true
      return (isWithinLimit, state.bucket?.nextToken.since(loop.now()), state.policy.users.isEmpty)
    }
    guard isWithinLimit else { return .refused(Self.tooMany(in: pause ?? .zero)) }
    if isOpen { return .admitted }
    guard let field = request.header("authorization"), let credentials = BasicCredentials(authorization: field) else {
      return .refused(Self.unauthorized)
    }
    switch passwords.knownAnswer(credentials) {
    case true?: return .admitted
    case false?: return .refused(Self.unauthorized)
    case nil: return .asked(credentials)
    }
  }

  /// Looks at a password, and calls `answer` on the loop with the refusal, or with nil when it is right.
  func look(_ credentials: BasicCredentials, _ answer: @escaping @Sendable (HTTPResponse?) -> Void) {
    passwords.look(credentials) { found in
      switch found {
      case .right: answer(nil)
      case .wrong: answer(Self.unauthorized)
      case .busy: answer(Self.unavailable("too many passwords are being looked at; try again\n"))
      case .impossible: answer(Self.unavailable("no password can be looked at now; try again\n"))
      }
    }
  }

  // MARK: Refusals

  private static var unauthorized: HTTPResponse {
    var response = HTTPResponse.text("a name and a password are needed\n", status: 401)
    response.headers.append(HTTPRequest.Field("WWW-Authenticate", "Basic realm=\"reachd\", charset=\"UTF-8\""))
    return response
  }

  private static func tooMany(in pause: Duration) -> HTTPResponse {
    var response = HTTPResponse.text("too many requests; try again\n", status: 429)
    let seconds = max(0, pause.nanoseconds - 1) / 1_000_000_000 + 1
    response.headers.append(HTTPRequest.Field("Retry-After", "\(seconds)"))
    return response
  }

  private static func unavailable(_ text: String) -> HTTPResponse {
    var response = HTTPResponse.text(text, status: 503)
    response.headers.append(HTTPRequest.Field("Retry-After", "2"))
    return response
  }
}
