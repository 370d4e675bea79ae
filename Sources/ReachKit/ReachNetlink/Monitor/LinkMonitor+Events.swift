internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachIO

extension LinkMonitor {
  /// The most datagrams that are read in one go; what is left wakes the loop again, after others had their turn.
  private static var batchLimit: Int { 256 }
  /// The same once messages have been lost: then all that waits must go, or it would overwrite what is read anew with
  /// what was before, and the message that set it right would be among the lost.
  private static var drainLimit: Int { 1 << 16 }

  /// Reads what waits, brings the table up to date, and tells the handlers.
  func drain() {
    let now = loop.now()
    perform(
      state.withState { state in
        state.core.beginBatch(at: now)
        readBatch(&state)
        return state.core.finishBatch(at: now)
      })
  }

  private func readBatch(_ state: inout State) {
    var isWhole = true
    for turn in 0..<Self.drainLimit {
      if isWhole, turn >= Self.batchLimit { return }
      switch source.receive(into: &state.buffer) {
      case .datagram(let count):
        let buffer = state.buffer  // a second reference, not a copy
        state.core.take(unsafe buffer.span.bytes.extracting(0..<count))
      case .truncated(let count):
        state.makeRoom(for: count)
        state.core.noteLoss()
        isWhole = false
      case .stray: state.core.noteStray()
      case .nothing: return
      case .failed(let code):
        state.core.noteLoss()
        // ENOBUFS is said once, and the socket goes on. Anything else is as good a reason to read anew.
        guard code.errno == ENOBUFS else { return }
        isWhole = false
      }
    }
  }

  // MARK: Steps

  /// Does what the core asks for, and has the loop come back when it asks for that.
  private func perform(_ step: MonitorCore.Step) {
    switch step {
    case .rest: break
    case .tell(let change): tell(change)
    case .read: readAll()
    }
    awaitNextRead()
  }

  private func readAll() {
    do throws(SystemError) {
      perform(try read())
    } catch {
      let now = loop.now()
      perform(state.withState { $0.core.failRead(at: now) })
    }
  }

  /// Reads all interfaces into the table. Throws what the kernel refused.
  func read() throws(SystemError) -> MonitorCore.Step {
    let start = loop.now()
    let dump = try source.readLinks()
    let end = loop.now()
    return state.withState { $0.core.take(dump, from: start, to: end) }
  }

  func awaitNextRead() {
    state.withState { state in
      guard !state.isStopped, let due = state.core.nextRead, due != state.timer?.due else { return }
      if let timer = state.timer { loop.cancel(timer.id) }
      let id = loop.schedule(at: due) { [weak self] in self?.readIsDue() }
      state.timer = (id, due)
    }
  }

  private func readIsDue() {
    let now = loop.now()
    perform(
      state.withState { state in
        state.timer = nil
        return state.core.step(at: now)
      })
  }

  /// Reads all interfaces and tells of what is different, for the sake of changes that no message told of. It costs
  /// one dump, a few microseconds an interface: for a slow look now and then.
  public func recheck() {
    guard !state.withState({ $0.isStopped }) else { return }
    drain()
    readAll()
  }

  private func tell(_ change: NetworkChange) {
    let handlers = state.withState { state in
      state.forgetFindings(after: change.kinds)
      return state.handlers
    }
    for (_, handler) in handlers { handler(change) }
  }
}

extension LinkMonitor.State {
  /// Drops the findings that the change may have made wrong: a tunnel's rest on routes too.
  mutating func forgetFindings(after kinds: NetworkChange.Kinds) {
    if kinds.contains(.link) || core.table.hasTunnels { findings.removeAll(keepingCapacity: true) }
  }

  /// Makes the buffer hold a datagram of that length, as far as that is sensible.
  mutating func makeRoom(for count: Int) {
    let limit = 1 << 20
    guard count > buffer.count, buffer.count < limit else { return }
    buffer = [UInt8](repeating: 0, count: min(limit, max(count, buffer.count &* 2)))
  }
}
