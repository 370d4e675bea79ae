/// What a server answers to: paths, for each its methods, for each a handler. A plain value.
public struct HTTPRoutes: Sendable {
  /// Answers a request, on the event loop, at once.
  public typealias Handler = @Sendable (HTTPRequest) -> HTTPResponse
  /// Takes a request, on the event loop, and answers it by the reply: at once or later.
  public typealias LateHandler = @Sendable (HTTPRequest, HTTPReply) -> Void

  /// How a request is answered.
  enum Action {
    case now(Handler)
    case later(LateHandler)
  }

  /// What a request comes to.
  enum Match {
    /// There is a handler; `path` is the route's own.
    case action(path: String, Action)
    /// The path has handlers for these methods only.
    case methodNotAllowed(path: String, allow: String)
    /// There is no such path.
    case notFound
  }

  /// The label for what belongs to no route.
  public static let otherPath = "other"

  private var table: [String: [String: Action]] = [:]

  /// No routes.
  public init() {}

  /// Adds a handler for exactly this path and these methods. With GET comes HEAD, as RFC 9110 section 9.1 wants. A
  /// later handler for the same path and method takes the earlier one's place.
  public mutating func add(_ path: String, methods: [String] = ["GET"], _ handler: @escaping Handler) {
    add(path, methods, .now(handler))
  }

  /// Adds a handler that answers when it can.
  public mutating func add(_ path: String, methods: [String] = ["GET"], later handler: @escaping LateHandler) {
    add(path, methods, .later(handler))
  }

  private mutating func add(_ path: String, _ methods: [String], _ action: Action) {
    for method in methods {
      table[path, default: [:]][method] = action
      if method == "GET" { table[path, default: [:]]["HEAD"] = action }
    }
  }

  func match(method: String, path: String) -> Match {
    guard let methods = table[path] else { return .notFound }
    if let action = methods[method] { return .action(path: path, action) }
    return .methodNotAllowed(path: path, allow: methods.keys.sorted().joined(separator: ", "))
  }

  /// The route's path for counting, and how the request is answered.
  func route(_ request: HTTPRequest) -> (path: String, action: Action) {
    switch match(method: request.method, path: request.path) {
    case .action(let path, let action): return (path, action)
    case .methodNotAllowed(let path, let allow):
      return (
        path,
        .now { _ in
          var response = HTTPResponse.text("method not allowed; allowed: \(allow)\n", status: 405)
          response.headers.append(HTTPRequest.Field("Allow", allow))
          return response
        }
      )
    case .notFound: return (Self.otherPath, .now { _ in .text("not found\n", status: 404) })
    }
  }
}
