/// Cuts a stream into lines, as Go's `bufio.Scanner` does: without the line feed and a carriage return before it, the last
/// one also without a line feed at all.
struct LineReader {
  /// A longer line is an error, so that a peer that never ends one costs bounded memory.
  static let longestLine = 64 * 1024

  /// Lines that come together are handed out so many at a time before others on the loop have their turn.
  private static let linesAtOnce = 64

  /// What has been read; it is used from `start` on.
  private var kept: [UInt8] = []
  private var start = 0
  private var isAtEnd = false
  private var lines = 0

  /// What there is instead of a line.
  enum Failure: Error {
    case stream(StreamFailure)
    case lineTooLong
  }

  /// The next line; nil at the end of the stream.
  mutating func next(from stream: any ByteStream) async throws(Failure) -> [UInt8]? {
    lines += 1
    if lines.isMultiple(of: Self.linesAtOnce) {
      do throws(StreamFailure) { try await stream.pause() } catch { throw .stream(error) }
    }
    var searched = 0
    while true {
      let rest = kept[start...]
      if let end = rest[(start + searched)...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { start = end + 1 }
        return Self.trimmed(rest[..<end])
      }
      searched = rest.count
      if isAtEnd {
        defer { start = kept.count }
        return rest.isEmpty ? nil : Self.trimmed(rest)
      }
      guard searched < Self.longestLine else { throw .lineTooLong }
      try await fill(from: stream)
    }
  }

  /// So many octets, or as many as there are before the end of the stream.
  mutating func octets(_ count: Int, from stream: any ByteStream) async throws(Failure) -> [UInt8] {
    while kept.count - start < count, !isAtEnd { try await fill(from: stream) }
    let octets = Array(kept[start...].prefix(count))
    start += octets.count
    return octets
  }

  private mutating func fill(from stream: any ByteStream) async throws(Failure) {
    kept.removeFirst(start)
    start = 0
    let octets: [UInt8]
    do throws(StreamFailure) { octets = try await stream.read(upTo: 16 * 1024) } catch { throw .stream(error) }
    if octets.isEmpty { isAtEnd = true } else { kept += octets }
  }

  private static func trimmed(_ line: ArraySlice<UInt8>) -> [UInt8] {
    Array(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
  }
}
