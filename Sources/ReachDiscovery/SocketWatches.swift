internal import ReachCore
internal import ReachIO

/// The sockets of a library that says itself which of them it wants to hear of, watched on the event loop.
///
/// Isolation: on the event loop.
struct SocketWatches: Sendable {
  private var entries: [Int32: (watch: EventLoop.Watch, interest: Readiness)] = [:]

  /// The library wants to hear of a socket when it is ready for that; of nothing any more: no longer. `ready` is called
  /// with what it is ready for.
  mutating func want(
    readable: Bool, writable: Bool, of descriptor: Int32, on loop: EventLoop,
    _ ready: @escaping @Sendable (Readiness) -> Void
  ) {
    var interest: Readiness = []
    if readable { interest.insert(.readable) }
    if writable { interest.insert(.writable) }
    let entry = entries[descriptor]
    if interest.isEmpty {
      if let entry { loop.unwatch(entry.watch) }
      entries[descriptor] = nil
    } else if let entry {
      if entry.interest != interest { try? loop.change(entry.watch, to: interest) }
      entries[descriptor]?.interest = interest
    } else if let watch = try? loop.watch(descriptor, for: interest, ready) {
      entries[descriptor] = (watch, interest)
    }
  }

  /// Hears of no socket any more.
  mutating func removeAll(on loop: EventLoop) {
    for entry in entries.values { loop.unwatch(entry.watch) }
    entries = [:]
  }
}
