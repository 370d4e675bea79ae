extension HTTPRequest {
  /// The answer to a request whose header leaves open where it ends, or whom it is for; nil for one that is sound.
  ///
  /// libmicrohttpd lets these pass, and a proxy in front may read them differently (RFC 9112 sections 3.2 and 6.3).
  func framingRefusal(version: String) -> HTTPResponse? {
    if version != "HTTP/1.0" {
      switch headers("host").count {
      case 1: break
      case 0: return Self.refusal("the header Host is missing, which HTTP/1.1 requires")
      default: return Self.refusal("the header Host is there more than once")
      }
    }
    let lengths = headers("content-length")
    let codings = headers("transfer-encoding")
    if Set(lengths).count > 1 { return Self.refusal("the headers Content-Length contradict each other") }
    guard let coding = codings.first else { return nil }
    if !lengths.isEmpty { return Self.refusal("Content-Length and Transfer-Encoding exclude each other") }
    if codings.count > 1 || coding.lowercased() != "chunked" {
      return Self.refusal("of transfer encodings only chunked is understood", status: 501)
    }
    return nil
  }

  private static func refusal(_ text: String, status: Int = 400) -> HTTPResponse {
    var response = HTTPResponse.text(text + "\n", status: status)
    // Where the next request begins is not known.
    response.headers.append(Field("Connection", "close"))
    return response
  }
}
