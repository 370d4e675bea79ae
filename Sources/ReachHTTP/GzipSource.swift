/// A body, compressed piece by piece as the client takes it.
struct GzipSource: ChunkSource {
  private static let gatheredSize = 24 * 1024

  private var body: any ChunkSource
  private let stream: GzipStream
  private var piece: [UInt8] = []
  private var isEnded = false

  /// nil when there is no memory for it.
  init?(_ body: any ChunkSource) {
    guard let stream = GzipStream() else { return nil }
    self.body = body
    self.stream = stream
  }

  mutating func next(into bytes: inout [UInt8]) -> Bool {
    if isEnded { return false }
    piece.removeAll(keepingCapacity: true)
    // Small pieces are gathered: what is made ready for the reader each time costs some bytes.
    while piece.count < Self.gatheredSize, !isEnded {
      let count = piece.count
      isEnded = !body.next(into: &piece) || piece.count == count
    }
    if !piece.isEmpty { stream.add(&piece, to: &bytes) }
    if isEnded { stream.end(into: &bytes) }
    return true
  }
}

/// Bytes that are there already, in pieces.
struct SlicedBytes: ChunkSource {
  private static let pieceSize = 32 * 1024

  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  mutating func next(into bytes: inout [UInt8]) -> Bool {
    let piece = rest.prefix(Self.pieceSize)
    bytes.append(contentsOf: piece)
    rest = rest.dropFirst(piece.count)
    return !piece.isEmpty
  }
}
