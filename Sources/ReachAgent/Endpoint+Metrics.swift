internal import ReachHTTP
internal import ReachIO
internal import ReachMetrics

extension Endpoint {
  /// The exposition in the format that the client prefers.
  func metrics(_ request: HTTPRequest) -> HTTPResponse {
    let vary = HTTPRequest.Field("Vary", "Accept")
    guard let format = ExpositionFormat.preferred(by: request.accept) else {
      var refusal = HTTPResponse.text(
        "text/plain is refused, and neither OpenMetrics nor protocol buffers are accepted\n", status: 406)
      refusal.headers.append(vary)
      return refusal
    }
    return HTTPResponse(
      contentType: format.contentType, headers: [vary],
      body: .chunks(ExpositionSource(exposition: exposition(in: format))))
  }
}

/// The exposition as a body that is written piece by piece.
private struct ExpositionSource: ChunkSource {
  var exposition: Exposition
  mutating func next(into bytes: inout [UInt8]) -> Bool { exposition.next(into: &bytes) }
}

extension ExpositionFormat {
  /// The format that a client wants most; of equals the first of text, OpenMetrics and protocol buffers, since those two
  /// are for who asks for them. A client that names none of them and does not refuse text gets text, which is what a
  /// scraper that asks for something newer can read. nil when text is refused (`q=0`) and nothing else accepted.
  static func preferred(by accept: AcceptHeader) -> ExpositionFormat? {
    var best: (format: ExpositionFormat, weight: Int)?
    for format in allCases {
      let weight = accept.weight(ofMediaType: format.mediaType, parameters: format.parameters)
      if weight > best?.weight ?? 0 { best = (format, weight) }
    }
    if let best { return best.format }
    let refusals = ["text/plain", "text/*", "*/*"]
    return accept.elements.contains { $0.weight == 0 && refusals.contains($0.range) } ? nil : .text
  }

  private var mediaType: String { String(contentType.prefix { $0 != ";" }) }

  /// The parameters of the content type: `version=1.0.0`.
  private var parameters: [HTTPRequest.Field] {
    contentType.split(separator: ";").dropFirst().compactMap { part in
      let words = part.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
      return words.count == 2 ? HTTPRequest.Field(String(words[0]), String(words[1])) : nil
    }
  }
}
