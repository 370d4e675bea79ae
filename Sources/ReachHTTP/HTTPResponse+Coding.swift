extension HTTPResponse {
  /// Below this, compressing saves no packet.
  private static let compressedSize = 1024
  /// Up to this, a body is compressed at once, so that its length can be sent.
  private static let wholeSize = 32 * 1024

  /// The response as the client wants it: compressed when it accepts gzip and does not prefer to go without (RFC 9110
  /// section 12.5.3).
  func coded(for request: HTTPRequest) -> HTTPResponse {
    guard status == 200, isCompressible, !headers.contains(where: { $0.name.lowercased() == "content-encoding" }) else {
      return self
    }
    let accepted = request.acceptEncoding
    let (gzip, identity) = (accepted.weight(ofCoding: "gzip"), accepted.weight(ofCoding: "identity"))
    var response = self
    response.vary(by: "Accept-Encoding")
    guard gzip > 0 || identity > 0 else {
      var refusal = HTTPResponse.text("neither gzip nor going without is accepted\n", status: 406)
      refusal.vary(by: "Accept-Encoding")
      return refusal
    }
    let isWorthIt = gzip >= identity && !isSmall
    if gzip > 0, isWorthIt || identity == 0, let body = response.compressedBody {
      response.body = body
      response.headers.append(HTTPRequest.Field("Content-Encoding", "gzip"))
    }
    return response
  }

  /// Whether it is text of some kind, or protocol buffers; anything else is taken to be compressed already.
  private var isCompressible: Bool {
    let type = contentType.prefix { $0 != ";" }.lowercased()
    return type.hasPrefix("text/") || ["json", "yaml", "text", "protobuf"].contains { type.hasSuffix($0) }
  }

  private var isSmall: Bool {
    if case .bytes(let bytes) = body { bytes.count < Self.compressedSize } else { false }
  }

  private var compressedBody: Body? {
    switch body {
    case .chunks(let chunks): return GzipSource(chunks).map { .chunks($0) }
    case .bytes(let bytes):
      guard var source = GzipSource(SlicedBytes(bytes)) else { return nil }
      if bytes.count > Self.wholeSize { return .chunks(source) }
      var compressed: [UInt8] = []
      while source.next(into: &compressed) {}
      return .bytes(compressed)
    }
  }

  /// Tells caches that the answer depends on that field of the request, beside those that it names already.
  mutating func vary(by name: String) {
    guard let index = headers.firstIndex(where: { $0.name.lowercased() == "vary" }) else {
      headers.append(HTTPRequest.Field("Vary", name))
      return
    }
    let named = headers[index].value.split(separator: ",").map { $0.trimmingBlanks.lowercased() }
    if !named.contains(name.lowercased()), !named.contains("*") { headers[index].value += ", " + name }
  }
}

extension Substring {
  fileprivate var trimmingBlanks: Substring {
    let front = drop { $0 == " " }
    return front.lastIndex { $0 != " " }.map { front[...$0] } ?? front
  }
}
