public import ReachCore
public import ReachIO

/// One answer to a scrape, written piece by piece, so that no number of targets needs a large buffer.
///
/// The families come in the order of the reference; within one, the targets in the order in which they are given. The
/// targets are those at the beginning, whatever is configured meanwhile; each number is the current one when its piece
/// is written. Call it on the event loop of the targets' series.
public struct Exposition {
  /// The content type of the text format 0.0.4.
  public static let contentType = "text/plain; version=0.0.4; charset=utf-8"
  /// About how many bytes a piece has.
  public static let pieceSize = 32 * 1024

  private enum Position {
    case targets(family: Int, target: Int)
    case host
    case end
  }

  private let targets: [LoopConfined<TargetSeries>]
  private let agent: AgentSeries
  private let links: [LinkSample]
  private let process: ProcessSample?
  private let now: Instant
  private var position = Position.targets(family: 0, target: 0)
  /// Whether the family at the position has been given its header.
  private var hasHeader = false

  /// An exposition from its beginning. `now` is up to when the time spent in a status counts.
  public init(
    targets: [LoopConfined<TargetSeries>], agent: AgentSeries, links: [LinkSample] = [], process: ProcessSample? = nil,
    at now: Instant
  ) {
    self.targets = targets
    self.agent = agent
    self.links = links
    self.process = process
    self.now = now
  }

  /// Appends the next piece: at least one byte and about `pieceSize`. Returns false when nothing was left to append.
  public mutating func next(into bytes: inout [UInt8]) -> Bool {
    let start = bytes.count
    bytes.reserveCapacity(start + Self.pieceSize + 4096)
    while true {
      switch position {
      case .targets(let family, let target):
        guard let kind = TargetFamily(rawValue: family) else {
          position = .host
          continue
        }
        position = appendSeries(of: kind, from: target, until: start + Self.pieceSize, to: &bytes)
        if bytes.count - start >= Self.pieceSize { return true }
      case .host:
        position = .end
        HostRendering.append(links: links, agent: agent, process: process, targets: targets.count, to: &bytes)
        return true
      case .end:
        return bytes.count > start
      }
    }
  }

  /// Appends one family until it ends or the buffer has grown enough. Returns where to go on.
  private mutating func appendSeries(
    of family: TargetFamily, from first: Int, until limit: Int, to bytes: inout [UInt8]
  ) -> Position {
    var target = first
    while target < targets.count {
      if bytes.count >= limit { return .targets(family: family.rawValue, target: target) }
      let before = bytes.count
      if !hasHeader { bytes.append(contentsOf: family.family.header) }
      let mark = bytes.count
      targets[target].withState { $0.render(family, at: now, into: &bytes) }
      // A family in which no target has a value is left out, header and all.
      if bytes.count > mark { hasHeader = true } else { bytes.removeLast(mark - before) }
      target += 1
    }
    hasHeader = false
    return .targets(family: family.rawValue + 1, target: 0)
  }
}
