/// A text that is kept compressed, at a twentieth of its size, since it is seldom asked for. A value that never changes.
public struct KeptText: Sendable {
  private let compressed: [UInt8]

  /// Reads the text to its end and keeps it; nil when there is no memory for that.
  public init?(_ text: any ChunkSource) {
    guard var source = GzipSource(text) else { return nil }
    var bytes: [UInt8] = []
    while source.next(into: &bytes) {}
    compressed = bytes
  }

  /// The size that it takes, in bytes.
  public var keptSize: Int { compressed.count }

  /// The text as a body, written as the client takes it. An empty one when there is no memory for it.
  public var body: HTTPResponse.Body { GunzipSource(compressed).map { .chunks($0) } ?? .bytes([]) }
}

/// The text of a stream in the gzip format, piece by piece.
private struct GunzipSource: ChunkSource {
  private let stream: GunzipStream

  init?(_ compressed: [UInt8]) {
    guard let stream = GunzipStream(compressed) else { return nil }
    self.stream = stream
  }

  mutating func next(into bytes: inout [UInt8]) -> Bool { stream.next(into: &bytes) }
}
