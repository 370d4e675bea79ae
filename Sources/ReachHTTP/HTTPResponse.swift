/// An answer to a request.
public struct HTTPResponse {
  /// A body.
  public enum Body {
    /// All of it; its length is sent.
    case bytes([UInt8])
    /// Written as the client takes it; sent in chunks (RFC 9112 section 7.1).
    case chunks(any ChunkSource)
  }

  /// The status code, such as 200.
  public var status: Int
  /// The content type; always sent.
  public var contentType: String
  /// Other header fields. One that holds a line feed is left out.
  public var headers: [HTTPRequest.Field]
  /// The body; not sent to HEAD.
  public var body: Body

  /// A response.
  public init(status: Int = 200, contentType: String, headers: [HTTPRequest.Field] = [], body: Body) {
    self.status = status
    self.contentType = contentType
    self.headers = headers
    self.body = body
  }

  /// Plain text in UTF-8.
  public static func text(_ text: String, status: Int = 200) -> HTTPResponse {
    HTTPResponse(status: status, contentType: "text/plain; charset=utf-8", body: .bytes(Array(text.utf8)))
  }
}

/// Writes a body piece by piece, on the event loop, when there is room for the next one.
public protocol ChunkSource {
  /// Appends the next piece, about 32 KiB at most. Returns false, with nothing appended, when there is no more.
  mutating func next(into bytes: inout [UInt8]) -> Bool
}
