internal import ReachCore

/// How long one request to `/probe` may take.
public enum ProbeTimeout {
  /// The field of the request's header by which Prometheus says how long it will wait.
  public static let header = "X-Prometheus-Scrape-Timeout-Seconds"
  /// What is kept back of that, for the answer to get there.
  static let offset = 0.5
  /// What is taken for it when the header does not say.
  static let standard = 120.0
  /// More than this is not waited for, whatever the header says.
  public static let longest = Duration.seconds(600)

  /// A header that is no number of seconds.
  public struct BadHeader: Error, Hashable, Sendable, CustomStringConvertible {
    /// For people: what was sent, and what is expected.
    public let description: String
  }

  /// The time for a probe: the module's, or what the client will wait less half a second where that is less. Always
  /// above zero: of a wait too short for the half second, all is used.
  public static func duration(header: String?, module: Duration?) throws(BadHeader) -> Duration {
    var seconds = 0.0
    if let header, !header.isEmpty {
      guard !header.utf8.contains(where: { $0 | 0x20 == UInt8(ascii: "x") }), let number = Double(header),
        number.isFinite,
        number >= 0
      else {
        throw BadHeader(
          description: "\(Self.header) is not a number of seconds; send one from 0 up, or leave it out")
      }
      seconds = number
    }
    let wait = min(seconds > 0 ? seconds : standard, longest.inSeconds)
    let usable = Duration.nanoseconds(max(1, Int64((wait > offset ? wait - offset : wait) * 1e9)))
    guard let module else { return usable }
    return min(module, usable)
  }
}
