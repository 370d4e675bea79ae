/// A request whose head and body have arrived.
public struct HTTPRequest: Hashable, Sendable {
  /// A name with a value.
  public struct Field: Hashable, Sendable {
    /// As it was sent.
    public var name: String
    /// As it was sent; in a query, decoded.
    public var value: String
    /// A field.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The method, such as `GET`.
  public var method: String
  /// The path, decoded, without the query.
  public var path: String
  /// The query's parameters in the order they were sent; one without `=` has an empty value.
  public var query: [Field]
  /// The header's fields in the order they were sent.
  public var headers: [Field]
  /// The body.
  public var body: [UInt8]
  /// The address that the request came in by.
  public var listener: ListenAddress

  /// A request.
  public init(
    method: String = "GET", path: String, query: [Field] = [], headers: [Field] = [], body: [UInt8] = [],
    listener: ListenAddress = .unix(path: "")
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.headers = headers
    self.body = body
    self.listener = listener
  }

  /// The first value of the query's parameter of that name.
  public func parameter(_ name: String) -> String? { query.first { $0.name == name }?.value }

  /// The first value of the header field of that name, whatever its case (RFC 9110 section 5.1).
  public func header(_ name: String) -> String? {
    let wanted = name.lowercased()
    return headers.first { $0.name.lowercased() == wanted }?.value
  }
}
