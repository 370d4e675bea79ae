/// The last probes that were asked for, with what there is to say of each. Bounded by count and by bytes. A plain value.
///
/// When a probe falls out of the last ones and has failed, it is kept among as many failures.
public struct ProbeHistory: Sendable {
  /// One probe.
  public struct Entry: Hashable, Sendable {
    /// Counts up with every probe.
    public let number: UInt64
    /// The module's name.
    public let module: String
    /// The target, as it was asked for.
    public let target: String
    /// Whether it succeeded.
    public let isSuccess: Bool
    /// When it ended, in nanoseconds since 1970 UTC.
    public let at: Int64
    /// The debug page.
    public let page: String

    fileprivate var size: Int { page.utf8.count + target.utf8.count + module.utf8.count + 128 }
  }

  private let count: Int
  private let bytes: Int
  private var recent: [Entry] = []
  private var failures: [Entry] = []
  private var size = 0
  private var next: UInt64 = 1

  /// A history of at most `count` probes and as many older failures, and of `bytes` together.
  public init(count: Int = 100, bytes: Int = 2 << 20) {
    self.count = max(1, count)
    self.bytes = bytes
  }

  /// Adds a probe that has ended; what there is no room for any more goes.
  public mutating func add(module: String, target: String, isSuccess: Bool, at: Int64, page: String) {
    let entry = Entry(number: next, module: module, target: target, isSuccess: isSuccess, at: at, page: page)
    next &+= 1
    recent.append(entry)
    size += entry.size
    while recent.count > count { retire() }
    while size > bytes, removeLeast() {}
  }

  private mutating func retire() {
    let oldest = recent.removeFirst()
    guard !oldest.isSuccess else { return size -= oldest.size }
    failures.append(oldest)
    if failures.count > count { size -= failures.removeFirst().size }
  }

  /// Takes out the oldest success, or where there is none the oldest failure; never the last that is there.
  private mutating func removeLeast() -> Bool {
    guard recent.count + failures.count > 1 else { return false }
    if let place = recent.dropLast().firstIndex(where: \.isSuccess) {
      size -= recent.remove(at: place).size
    } else if !failures.isEmpty {
      size -= failures.removeFirst().size
    } else {
      size -= recent.removeFirst().size
    }
    return true
  }

  /// Every probe that is kept, the newest first.
  public var entries: [Entry] { Array((failures + recent).reversed()) }

  /// The newest probe of a target.
  public func newest(of target: String) -> Entry? {
    recent.last { $0.target == target } ?? failures.last { $0.target == target }
  }

  /// The probe of that number.
  public func entry(_ number: UInt64) -> Entry? { (failures + recent).first { $0.number == number } }
}
