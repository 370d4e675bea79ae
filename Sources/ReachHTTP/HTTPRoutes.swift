/// What a server answers to: paths, for each its methods, for each a handler. A plain value.
public struct HTTPRoutes: Sendable {
  /// Answers a request, on the event loop, at once.
  public typealias Handler = @Sendable (HTTPRequest) -> HTTPResponse

  /// What a request comes to.
  enum Match {
    /// There is a handler; `path` is the route's own.
    case handler(path: String, Handler)
    /// The path has handlers for these methods only.
    case methodNotAllowed(path: String, allow: String)
    /// There is no such path.
    case notFound
  }

  /// The label for what belongs to no route.
  public static let otherPath = "other"

  private var table: [String: [String: Handler]] = [:]

  /// No routes.
  public init() {}

  /// Adds a handler for exactly this path and these methods. With GET comes HEAD, as RFC 9110 section 9.1 wants. A
  /// later handler for the same path and method takes the earlier one's place.
  public mutating func add(_ path: String, methods: [String] = ["GET"], _ handler: @escaping Handler) {
    for method in methods {
      table[path, default: [:]][method] = handler
      if method == "GET" { table[path, default: [:]]["HEAD"] = handler }
    }
  }

  func match(method: String, path: String) -> Match {
    guard let methods = table[path] else { return .notFound }
    if let handler = methods[method] { return .handler(path: path, handler) }
    return .methodNotAllowed(path: path, allow: methods.keys.sorted().joined(separator: ", "))
  }

  /// The answer to a request, with the route's path for counting.
  func answer(_ request: HTTPRequest) -> (path: String, response: HTTPResponse) {
    switch match(method: request.method, path: request.path) {
    case .handler(let path, let handler): return (path, handler(request))
    case .methodNotAllowed(let path, let allow):
      var response = HTTPResponse.text("method not allowed; allowed: \(allow)\n", status: 405)
      response.headers.append(HTTPRequest.Field("Allow", allow))
      return (path, response)
    case .notFound: return (Self.otherPath, .text("not found\n", status: 404))
    }
  }
}
