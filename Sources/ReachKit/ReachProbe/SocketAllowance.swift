internal import ReachCore
public import ReachIO

/// How many sockets may be open together for one purpose, out of the descriptors that this process may have
/// (RLIMIT_NOFILE, getrlimit(2)).
///
/// Whoever opens a socket takes it from the allowance before, and gives it back after it is closed. Nobody is made to
/// wait here: a holder that found none is told when some have been given back.
///
/// Isolation: on the event loop.
public final class SocketAllowance: Sendable {
  /// One who keeps sockets open that others may need more.
  public struct Holder: Sendable {
    /// Closes what is open without need, at once.
    let closeIdle: @Sendable () -> Void
    /// Told, in a turn of the loop of its own, that there are free ones again.
    let becameFree: @Sendable () -> Void

    /// A holder.
    public init(closeIdle: @escaping @Sendable () -> Void, becameFree: @escaping @Sendable () -> Void) {
      self.closeIdle = closeIdle
      self.becameFree = becameFree
    }
  }

  private struct State {
    var free: Int
    var holders: [Int: Holder] = [:]
    var lastHolder = 0
    /// The places of the holders that wait, in order.
    var waiting: [Int] = []
    var isTelling = false
  }

  private let loop: EventLoop
  private let state: LoopConfined<State>

  /// An allowance of that many sockets; without a number there is no bound.
  public init(_ count: Int = .max, on loop: EventLoop) {
    self.loop = loop
    state = LoopConfined(State(free: max(0, count)), on: loop)
  }

  /// How many are free.
  public var free: Int { state.withState { $0.free } }

  /// Takes as many as are wanted and free. Returns how many that are.
  public func take(upTo wanted: Int) -> Int {
    state.withState { state in
      let taken = max(0, min(wanted, state.free))
      state.free -= taken
      return taken
    }
  }

  /// Gives back as many as have been taken and closed.
  public func giveBack(_ count: Int) {
    guard count > 0 else { return }
    let mustTell = state.withState { state in
      let (sum, overflow) = state.free.addingReportingOverflow(count)
      state.free = overflow ? .max : sum
      defer { if !state.waiting.isEmpty { state.isTelling = true } }
      return !state.waiting.isEmpty && !state.isTelling
    }
    // In a turn of its own: the socket is closed somewhere within a library that must not be entered again.
    if mustTell { loop.schedule(at: loop.now()) { self.tell() } }
  }

  // MARK: Holders

  /// Makes a holder known. Returns the number it is known by, which is never given again.
  public func add(_ holder: Holder) -> Int {
    state.withState { state in
      state.lastHolder += 1
      state.holders[state.lastHolder] = holder
      return state.lastHolder
    }
  }

  /// Forgets a holder, which has closed all it had.
  public func remove(_ number: Int) {
    state.withState { state in
      state.holders[number] = nil
      state.waiting.removeAll { $0 == number }
    }
  }

  /// Has all holders but that one close what they do not need. Returns whether there are free ones then.
  public func reclaim(for number: Int) -> Bool {
    let others = state.withState { state in
      state.holders.filter { $0.key != number }.sorted { $0.key < $1.key }.map(\.value)
    }
    for holder in others {
      holder.closeIdle()
      if free > 0 { return true }
    }
    return free > 0
  }

  /// Whether a holder waits for free ones: who has some open without need should close them.
  public var isWanted: Bool { state.withState { !$0.waiting.isEmpty } }

  /// Has that holder told when there are free ones again, once.
  public func wait(as number: Int) {
    state.withState { state in
      if !state.waiting.contains(number) { state.waiting.append(number) }
    }
  }

  private func tell() {
    let waiting = state.withState { state in
      defer { state.waiting = [] }
      state.isTelling = false
      return state.waiting.compactMap { state.holders[$0] }
    }
    for holder in waiting { holder.becameFree() }
  }
}
