internal import CReachCurl
internal import ReachCore
internal import ReachIO

/// What a server is asked for.
struct HTTPQuestion: Sendable {
  var url: String
  /// `HOST:PORT:ADDRESS,…`: whom the URL's name leads to; nil where it holds an address.
  var resolved: String?
  var userAgent: String
  var headers: [String] = []
  var basic: (username: String, password: String)?
  var authorityFile: String?
  var certificateFile: String?
  var keyFile: String?
  var skipsVerification = false
  var timeout: Duration
}

/// What a server answered.
struct HTTPAnswer: Sendable, Hashable {
  var status: Int
  var contentType: String?
  /// The absolute URL that the answer leads to.
  var redirect: String?
  var body: [UInt8]
}

/// Why there is no answer.
struct HTTPFailure: Error, Hashable {
  let message: String
}

/// Asks one thing after another by libcurl on the event loop: no thread is made, no call blocks.
///
/// libcurl resolves no name, since it would make a thread for that: a question comes with the addresses.
///
/// Isolation: on the event loop.
@safe
final class HTTPClient: Sendable {
  @safe
  private struct State {
    var handle: OpaquePointer?
    var watches = SocketWatches()
    var timer: TimerID?
    var wait: PendingWait?
    var body: [UInt8] = []
    var isTooLarge = false
  }

  private let loop: EventLoop
  private let bodyLimit: Int
  private let state: LoopConfined<State>

  /// A client that takes bodies of at most so many octets, decompressed. Throws when libcurl cannot be had.
  init(on loop: EventLoop, bodyLimit: Int) throws(HTTPFailure) {
    self.loop = loop
    self.bodyLimit = bodyLimit
    state = LoopConfined(State(), on: loop)
    if let problem = unsafe CReachCurl_load() { throw HTTPFailure(message: unsafe String(cString: problem)) }
    // libcurl has a pointer to this object until it is closed in `deinit`.
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    let handle = unsafe CReachCurl_open(
      { unsafe HTTPClient.from($0)?.watch($1, readable: $2 != 0, writable: $3 != 0) },
      { unsafe HTTPClient.from($0)?.arm($1) },
      { context, bytes, count in
        unsafe HTTPClient.from(context)?.take(UnsafeBufferPointer(start: bytes, count: count)) ?? -1
      }, context)
    guard let handle = unsafe handle else { throw HTTPFailure(message: "there is no memory for a request") }
    state.withState { unsafe $0.handle = handle }
  }

  deinit {
    // No request is under way: whoever asks holds the client. Without one there is no socket to be told of.
    if let handle = unsafe state.withState({ unsafe $0.handle }) { unsafe CReachCurl_close(handle) }
    state.withState { state in
      state.watches.removeAll(on: loop)
      if let timer = state.timer { loop.cancel(timer) }
    }
  }

  private static func from(_ context: UnsafeMutableRawPointer?) -> HTTPClient? {
    guard let context = unsafe context else { return nil }
    return unsafe Unmanaged<HTTPClient>.fromOpaque(context).takeUnretainedValue()
  }

  // MARK: Asking

  /// Asks, and waits for the whole answer. One question at a time; call it from a task on the loop. Throws when there is
  /// no answer by the question's time-out, or its body is too large.
  func ask(_ question: HTTPQuestion) async throws(HTTPFailure) -> HTTPAnswer {
    guard
      let handle = unsafe state.withState({ state in
        state.body = []
        state.isTooLarge = false
        return unsafe state.handle
      })
    else { throw HTTPFailure(message: "the client is closed") }
    // libcurl keeps the time too; this is for a question that ends at once.
    let deadline = loop.now().advanced(by: question.timeout + .seconds(1))
    var hasBegun = false
    let outcome = await loop.wait(until: deadline) { wait in
      state.withState { $0.wait = wait }
      hasBegun = unsafe begin(question, handle)
      if !hasBegun { wait.finish(.ready([])) }
    }
    let result = unsafe result(handle, outcome)
    unsafe CReachCurl_end(handle)
    guard hasBegun else { throw HTTPFailure(message: "the request cannot be begun") }
    return try result.get()
  }

  private func result(_ handle: OpaquePointer, _ outcome: WaitOutcome) -> Result<HTTPAnswer, HTTPFailure> {
    let (body, isTooLarge) = state.withState { state in
      defer { state.body = [] }
      state.wait = nil
      return (state.body, state.isTooLarge)
    }
    if isTooLarge {
      return .failure(HTTPFailure(message: "the answer is larger than \(bodyLimit >> 20) MiB; split it"))
    }
    var result = unsafe CReachCurl_result()
    guard unsafe CReachCurl_finished(handle, &result) != 0 else {
      return .failure(HTTPFailure(message: outcome == .cancelled ? "cancelled" : "Timeout was reached"))
    }
    if let failure = unsafe result.failure {
      return .failure(HTTPFailure(message: unsafe String(cString: failure)))
    }
    return .success(
      HTTPAnswer(
        status: Int(unsafe result.status), contentType: unsafe result.content_type.map { unsafe String(cString: $0) },
        redirect: unsafe result.redirect.map { unsafe String(cString: $0) }, body: body))
  }

  private func begin(_ question: HTTPQuestion, _ handle: OpaquePointer) -> Bool {
    var request = unsafe CReachCurl_request()
    let milliseconds = question.timeout.components.seconds.multipliedReportingOverflow(by: 1000)
    let fraction = question.timeout.components.attoseconds / 1_000_000_000_000_000
    unsafe request.timeout_ms = milliseconds.overflow ? 3_600_000 : max(1, Int(milliseconds.partialValue &+ fraction))
    unsafe request.skips_verification = question.skipsVerification ? 1 : 0
    var texts = CTexts()
    unsafe request.url = UnsafePointer(texts.keep(question.url))
    unsafe request.resolved = UnsafePointer(texts.keep(question.resolved))
    unsafe request.user_agent = UnsafePointer(texts.keep(question.userAgent))
    unsafe request.username = UnsafePointer(texts.keep(question.basic?.username))
    unsafe request.password = UnsafePointer(texts.keep(question.basic?.password))
    unsafe request.authority_file = UnsafePointer(texts.keep(question.authorityFile))
    unsafe request.certificate_file = UnsafePointer(texts.keep(question.certificateFile))
    unsafe request.key_file = UnsafePointer(texts.keep(question.keyFile))
    let headers = unsafe question.headers.map { unsafe UnsafePointer(texts.keep($0)) } + [nil]
    return unsafe headers.withUnsafeBufferPointer { pointers in
      unsafe request.headers = pointers.baseAddress
      return unsafe CReachCurl_begin(handle, &request) == 0
    }
  }

  private func take(_ bytes: UnsafeBufferPointer<UInt8>) -> Int32 {
    state.withState { state in
      guard bytes.count <= bodyLimit - state.body.count else {
        state.isTooLarge = true
        return -1
      }
      unsafe state.body.append(contentsOf: bytes)
      return 0
    }
  }

  // MARK: Sockets and time

  private func watch(_ descriptor: Int32, readable: Bool, writable: Bool) {
    state.withState { state in
      state.watches.want(readable: readable, writable: writable, of: descriptor, on: loop) { [weak self] in
        self?.ready(descriptor, $0)
      }
    }
  }

  private func ready(_ descriptor: Int32, _ readiness: Readiness) {
    act(
      descriptor, isReadable: readiness.contains(.readable), isWritable: readiness.contains(.writable),
      hasFailed: !readiness.isDisjoint(with: [.error, .hangUp]))
  }

  private func arm(_ milliseconds: Int) {
    state.withState { state in
      if let timer = state.timer { loop.cancel(timer) }
      state.timer = nil
      guard milliseconds >= 0 else { return }
      let due = loop.now().advanced(by: .milliseconds(milliseconds))
      state.timer = loop.schedule(at: due) { [weak self] in
        self?.act(-1, isReadable: false, isWritable: false, hasFailed: false)
      }
    }
  }

  private func act(_ descriptor: Int32, isReadable: Bool, isWritable: Bool, hasFailed: Bool) {
    guard let handle = unsafe state.withState({ unsafe $0.handle }) else { return }
    unsafe CReachCurl_act(handle, descriptor, isReadable ? 1 : 0, isWritable ? 1 : 0, hasFailed ? 1 : 0)
    var result = unsafe CReachCurl_result()
    guard unsafe CReachCurl_finished(handle, &result) != 0 else { return }
    state.withState { $0.wait }?.finish(.ready([]))
  }
}

/// Copies of texts as C has them, which live as long as this value.
@safe
private struct CTexts: ~Copyable {
  private var copies: [UnsafeMutablePointer<CChar>] = unsafe []

  /// A copy that ends with a zero; nil for nil.
  mutating func keep(_ text: String?) -> UnsafeMutablePointer<CChar>? {
    guard let text else { return nil }
    let bytes = text.utf8CString
    let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
    for (index, byte) in bytes.enumerated() { unsafe copy[index] = byte }
    unsafe copies.append(copy)
    return unsafe copy
  }

  deinit { unsafe copies.forEach { unsafe $0.deallocate() } }
}
