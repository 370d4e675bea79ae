/// Cuts a stream into lines, as Go's `bufio.Scanner` does: without the line feed and a carriage return before it, the last
/// one also without a line feed at all.
struct LineReader {
  /// A longer line is an error, so that a peer that never ends one costs bounded memory.
  static let longestLine = 64 * 1024

  private var kept: [UInt8] = []
  private var isAtEnd = false

  /// What there is instead of a line.
  enum Failure: Error {
    case stream(StreamFailure)
    case lineTooLong
  }

  /// The next line; nil at the end of the stream.
  mutating func next(from stream: any ByteStream) async throws(Failure) -> [UInt8]? {
    var searched = 0
    while true {
      if let end = kept[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        let line = Self.trimmed(kept[..<end])
        kept.removeFirst(end + 1)
        return line
      }
      searched = kept.count
      if isAtEnd {
        defer { kept = [] }
        return kept.isEmpty ? nil : Self.trimmed(kept[...])
      }
      guard kept.count < Self.longestLine else { throw .lineTooLong }
      try await fill(from: stream)
    }
  }

  /// So many octets, or as many as there are before the end of the stream.
  mutating func octets(_ count: Int, from stream: any ByteStream) async throws(Failure) -> [UInt8] {
    while kept.count < count, !isAtEnd { try await fill(from: stream) }
    let octets = Array(kept.prefix(count))
    kept.removeFirst(octets.count)
    return octets
  }

  private mutating func fill(from stream: any ByteStream) async throws(Failure) {
    let octets: [UInt8]
    do throws(StreamFailure) { octets = try await stream.read(upTo: 16 * 1024) } catch { throw .stream(error) }
    if octets.isEmpty { isAtEnd = true } else { kept += octets }
  }

  private static func trimmed(_ line: ArraySlice<UInt8>) -> [UInt8] {
    Array(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
  }
}
