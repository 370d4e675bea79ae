public import ReachCore
public import ReachIO

/// One answer to a scrape, written piece by piece, so that no number of targets needs a large buffer.
///
/// The families come in the order of the reference; within one, the targets in the order in which they are given. The
/// targets are those at the beginning, whatever is configured meanwhile; each number is the current one when its piece
/// is written. Call it on the event loop of the targets' series.
public struct Exposition {
  /// About how many bytes a piece has.
  public static let pieceSize = 32 * 1024
  /// Room for the series that make a piece full.
  private static let spareRoom = 4 * 1024

  private enum Position {
    case targets(family: Int, target: Int)
    case host
    case end
  }

  private let targets: [LoopConfined<TargetSeries>]
  private let format: ExpositionFormat
  private let host: HostRendering
  private let now: Instant
  private let pieces = TargetPieces.shared
  private var position = Position.targets(family: 0, target: 0)
  /// Whether the family at the position has been given its header.
  private var hasHeader = false

  /// An exposition from its beginning. `now` is up to when the time spent in a status counts.
  public init(
    targets: [LoopConfined<TargetSeries>], agent: AgentSeries, links: [LinkSample] = [], process: ProcessSample? = nil,
    format: ExpositionFormat = .text, at now: Instant
  ) {
    self.targets = targets
    self.format = format
    self.now = now
    host = HostRendering(
      links: links.sorted { $0.interface < $1.interface }, agent: agent, process: process, targets: targets.count)
  }

  /// Appends the next piece: at least one byte and about `pieceSize`. Returns false when nothing was left to append.
  public mutating func next(into bytes: inout [UInt8]) -> Bool {
    let before = bytes.count
    var room = Self.pieceSize + Self.spareRoom
    while bytes.count == before {
      if case .end = position { return false }
      bytes.append(addingCapacity: room) { output in
        unsafe output.withUnsafeMutableBufferPointer { memory, count in
          var writer = unsafe SeriesWriter(format, into: ByteWriter(memory))
          write(to: &writer)
          count = writer.out.count
        }
      }
      // Nothing: the labels of the target whose turn it is need more room than there was.
      room *= 2
    }
    return true
  }

  /// Writes until the piece has grown enough, or what is next has no room.
  private mutating func write(to writer: inout SeriesWriter) {
    while writer.out.count < Self.pieceSize {
      switch position {
      case .targets(let family, let target):
        guard let kind = TargetFamily(rawValue: family) else {
          position = .host
          continue
        }
        let next = writeSeries(of: kind, from: target, to: &writer)
        if next < targets.count {
          position = .targets(family: family, target: next)
          return
        }
        position = .targets(family: family + 1, target: 0)
        hasHeader = false
      case .host:
        let mark = writer.out.count
        host.write(to: &writer)
        writer.finish()
        if writer.out.hasOverflowed { return writer.out.rollBack(to: mark) }
        position = .end
      case .end: return
      }
    }
  }

  /// Writes one family until it ends or the piece has grown enough. Returns the target to go on with.
  private mutating func writeSeries(
    of kind: TargetFamily, from first: Int, to writer: inout SeriesWriter
  ) -> Int {
    let family = kind.family
    var target = first
    var isBegun = false
    while target < targets.count, writer.out.count < Self.pieceSize {
      let before = writer.out.count
      if !isBegun { writer.begin(family, isContinued: hasHeader) }
      let mark = writer.out.count
      targets[target].withState { $0.write(kind, family, pieces, at: now, to: &writer) }
      if writer.out.hasOverflowed {
        writer.out.rollBack(to: before)
        break
      }
      if writer.out.count > mark {
        isBegun = true
        hasHeader = true
      } else {
        // A family in which no target has a value is left out, header and all.
        writer.out.rollBack(to: before)
      }
      target += 1
    }
    if isBegun { writer.end() }
    return target
  }
}
