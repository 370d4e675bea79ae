internal import CCares
internal import Glibc
internal import ReachCore
internal import ReachIO

/// Why a name server gave no answer.
struct LookupFailure: Error, Hashable {
  /// c-ares' word for it.
  let message: String
}

/// One question to name servers, by c-ares on the event loop: no thread is made, no call blocks but for the reading of
/// the resolver's files.
///
/// A channel is opened for each question and closed after it, so that the resolver's files of now hold, and nothing stays
/// open between two questions.
///
/// Isolation: on the event loop.
@safe
final class NameLookup: Sendable {
  private enum Answer: Sendable {
    case message([UInt8])
    case addresses([IPAddress])
    case nothing
    case failure(LookupFailure)
  }

  @safe
  private struct State {
    var handle: OpaquePointer?
    var watches = SocketWatches()
    var timer: TimerID?
    var wait: PendingWait?
    var answer: Answer?
  }

  private let loop: EventLoop
  private let state: LoopConfined<State>

  private init(on loop: EventLoop) {
    self.loop = loop
    state = LoopConfined(State(), on: loop)
  }

  // MARK: Questions

  /// The message that answers the question for records of a type; nil when there are none. The name is absolute.
  static func records(
    _ type: UInt16, of name: String, servers: String?, until deadline: Instant, on loop: EventLoop
  ) async throws(LookupFailure) -> [UInt8]? {
    let lookup = NameLookup(on: loop)
    let answer = unsafe await lookup.ask(servers: servers, until: deadline) { handle, context in
      unsafe ares_query(
        handle, name, 1, Int32(type),
        { context, status, _, bytes, count in
          let message = unsafe UnsafeBufferPointer(start: bytes, count: bytes == nil ? 0 : Int(max(0, count)))
          unsafe NameLookup.from(context)?.finish(status, .message(Array(message)))
        }, context)
    }
    switch answer {
    case .message(let message): return message
    case .failure(let failure): throw failure
    case .addresses, .nothing: return nil
    }
  }

  /// The addresses of a name, by the system's files, search list and name servers; none when there are none.
  static func addresses(
    of name: String, servers: String? = nil, until deadline: Instant, on loop: EventLoop
  ) async throws(LookupFailure) -> [IPAddress] {
    let lookup = NameLookup(on: loop)
    let answer = unsafe await lookup.ask(servers: servers, until: deadline) { handle, context in
      unsafe CCares_addresses(
        handle, name,
        { context, status, _, result in
          var addresses: [IPAddress] = []
          var node = unsafe result?.pointee.nodes
          while let current = unsafe node {
            if let address = unsafe NameLookup.address(current.pointee.ai_addr) { addresses.append(address) }
            unsafe node = current.pointee.ai_next
          }
          unsafe ares_freeaddrinfo(result)
          unsafe NameLookup.from(context)?.finish(status, .addresses(addresses))
        }, context)
    }
    switch answer {
    case .addresses(let addresses): return addresses
    case .failure(let failure): throw failure
    case .message, .nothing: return []
    }
  }

  private static func address(_ address: UnsafeMutablePointer<sockaddr>?) -> IPAddress? {
    guard let address = unsafe address else { return nil }
    switch Int32(unsafe address.pointee.sa_family) {
    case AF_INET:
      let raw = unsafe UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in.self)
      return IPAddress(ipv4: UInt32(bigEndian: raw.sin_addr.s_addr))
    case AF_INET6:
      let raw = unsafe UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in6.self)
      let octets = unsafe withUnsafeBytes(of: raw.sin6_addr) { unsafe Array($0) }
      let halves = (octets[..<8], octets[8...])
      return IPAddress(
        ipv6High: halves.0.reduce(0) { $0 << 8 | UInt64($1) }, low: halves.1.reduce(0) { $0 << 8 | UInt64($1) })
    default: return nil
    }
  }

  // MARK: The channel

  private func ask(
    servers: String?, until deadline: Instant, _ begin: (OpaquePointer, UnsafeMutableRawPointer) -> Void
  ) async -> Answer {
    // c-ares has a pointer to this object for as long as the channel is open, which is no longer than this call.
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    var handle: OpaquePointer?
    let status = unsafe CCares_open_system(
      &handle, servers, { unsafe NameLookup.from($0)?.watch($1, readable: $2 != 0, writable: $3 != 0) }, context)
    guard status == 0, let handle = unsafe handle else { return .failure(Self.failure(status)) }
    state.withState { unsafe $0.handle = handle }
    let outcome = await loop.wait(until: deadline) { wait in
      state.withState { $0.wait = wait }
      unsafe begin(handle, context)
      arm()
    }
    let answer = state.withState { $0.answer }
    close()
    if let answer { return answer }
    return .failure(
      LookupFailure(message: outcome == .cancelled ? "cancelled" : "Timeout while contacting DNS servers"))
  }

  private func finish(_ status: Int32, _ answer: Answer) {
    let wait = state.withState { state in
      if state.answer == nil {
        state.answer =
          if status == 0 {
            answer
          } else if CCares_is_nothing(status) != 0 {
            .nothing
          } else {
            .failure(Self.failure(status))
          }
      }
      return state.wait
    }
    wait?.finish(.ready([]))
  }

  private static func failure(_ status: Int32) -> LookupFailure {
    LookupFailure(message: unsafe ares_strerror(status).map { unsafe String(cString: $0) } ?? "status \(status)")
  }

  private static func from(_ context: UnsafeMutableRawPointer?) -> NameLookup? {
    guard let context = unsafe context else { return nil }
    return unsafe Unmanaged<NameLookup>.fromOpaque(context).takeUnretainedValue()
  }

  private func close() {
    let (handle, timer) = unsafe state.withState { state in
      defer { unsafe (state.handle, state.timer) = (nil, nil) }
      return unsafe (state.handle, state.timer)
    }
    if let timer { loop.cancel(timer) }
    // Tells of every socket before it closes it.
    if let handle = unsafe handle { unsafe ares_destroy(handle) }
    state.withState { state in
      state.watches.removeAll(on: loop)
    }
  }

  // MARK: Sockets and time

  /// c-ares wants to hear of a socket, or no longer.
  private func watch(_ descriptor: Int32, readable: Bool, writable: Bool) {
    state.withState { state in
      state.watches.want(readable: readable, writable: writable, of: descriptor, on: loop) { [weak self] in
        self?.ready(descriptor, $0)
      }
    }
  }

  private func ready(_ descriptor: Int32, _ readiness: Readiness) {
    let hasEnded = !readiness.isDisjoint(with: [.error, .hangUp])
    process(descriptor, hasEnded || readiness.contains(.readable), hasEnded || readiness.contains(.writable))
  }

  private func process(_ descriptor: Int32, _ isReadable: Bool, _ isWritable: Bool) {
    guard let handle = unsafe state.withState({ unsafe $0.handle }) else { return }
    unsafe CCares_process(handle, descriptor, isReadable ? 1 : 0, isWritable ? 1 : 0)
    arm()
  }

  /// Comes back when c-ares has to be looked after whatever its sockets do.
  private func arm() {
    guard let handle = unsafe state.withState({ unsafe $0.handle }) else { return }
    let milliseconds = unsafe CCares_next_timeout(handle)
    state.withState { state in
      if let timer = state.timer { loop.cancel(timer) }
      state.timer = nil
      guard milliseconds >= 0, state.answer == nil else { return }
      // Never at once: what is due is done by the time it is.
      let due = loop.now().advanced(by: .milliseconds(max(1, milliseconds)))
      state.timer = loop.schedule(at: due) { [weak self] in self?.process(-1, false, false) }
    }
  }
}
