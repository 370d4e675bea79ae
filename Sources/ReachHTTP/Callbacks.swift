internal import CMicroHTTPD
internal import ReachCore

// What libmicrohttpd calls. All of it happens inside of MHD_run or MHD_stop_daemon, on the event loop; nothing here may
// trap on what a client sends.

/// A request on its way in: its head, what has arrived of its body, and what is waited for.
final class IncomingRequest {
  var request: HTTPRequest
  /// Who asks, until their password has been looked at.
  var credentials: BasicCredentials?
  /// The path to count an answer for that is waited for.
  var promisedPath: String?
  var outcome: DaemonContext.Outcome?
  init(_ head: HTTPRequest) { request = head }
}

/// Called first when a request's head has arrived, then with pieces of its body, and once more at its end.
func answerRequest(
  _ cls: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ url: UnsafePointer<CChar>?,
  _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ data: UnsafePointer<CChar>?,
  _ size: UnsafeMutablePointer<Int>?, _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
  let no = CMicroHTTPD_result(0)
  let yes = CMicroHTTPD_result(1)
  guard let cls = unsafe cls, let connection = unsafe connection, let slot = unsafe slot, let size = unsafe size else {
    return no
  }
  let context = unsafe Unmanaged<DaemonContext>.fromOpaque(cls).takeUnretainedValue()
  guard let kept = unsafe slot.pointee else {
    let head = HTTPRequest(
      method: unsafe text(method), path: path(of: unsafe text(url)),
      query: unsafe fields(CMicroHTTPD_each_argument, connection),
      headers: unsafe fields(CMicroHTTPD_each_header, connection), listener: context.listener)
    let incoming = IncomingRequest(head)
    unsafe slot.pointee = Unmanaged.passRetained(incoming).toOpaque()
    if let refusal = head.framingRefusal(version: unsafe text(version)) {
      return unsafe answer(connection, context, head, HTTPRoutes.otherPath, refusal)
    }
    switch context.gate.admit(head) {
    case .admitted: break
    case .refused(let response): return unsafe answer(connection, context, head, HTTPRoutes.otherPath, response)
    case .asked(let credentials): incoming.credentials = credentials
    }
    if let length = head.header("content-length"),
      UInt64(length).map({ $0 > UInt64(max(0, context.limits.bodyBytes)) }) ?? true
    {
      return unsafe answer(connection, context, head, HTTPRoutes.otherPath, .text("body too large\n", status: 413))
    }
    return yes
  }
  let incoming = unsafe Unmanaged<IncomingRequest>.fromOpaque(kept).takeUnretainedValue()
  if let path = incoming.promisedPath {
    // Taken up again: it is known what becomes of it. Should it not be, the connection is of no more use.
    guard let outcome = incoming.outcome else { return no }
    incoming.promisedPath = nil
    incoming.outcome = nil
    return unsafe proceed(connection, context, incoming, path, outcome)
  }
  let count = unsafe size.pointee
  if count > 0 {
    // A body that does not say its length and grows too long: there is no way to answer before its end.
    guard let data = unsafe data, count <= context.limits.bodyBytes - incoming.request.body.count else { return no }
    unsafe incoming.request.body.append(contentsOf: UnsafeRawBufferPointer(start: data, count: count))
    unsafe size.pointee = 0
    return yes
  }
  guard let credentials = incoming.credentials else { return unsafe route(connection, context, incoming) }
  incoming.credentials = nil
  let look = { (reply: HTTPReply) in
    context.gate.look(credentials) { refusal in
      if let refusal { reply.send(refusal) } else { reply.admit() }
    }
  }
  return unsafe promise(connection, context, incoming, HTTPRoutes.otherPath, look)
}

/// Answers a request, or has it answered later, by its route.
private func route(
  _ connection: OpaquePointer, _ context: DaemonContext, _ incoming: IncomingRequest
) -> MHD_Result {
  let request = incoming.request
  let (path, action) = context.routes.route(request)
  switch action {
  case .now(let handler): return unsafe answer(connection, context, request, path, handler(request))
  case .later(let handler):
    return unsafe promise(connection, context, incoming, path) { handler(request, $0) }
  }
}

/// Has `handler` see to what becomes of a request, now or later.
private func promise(
  _ connection: OpaquePointer, _ context: DaemonContext, _ incoming: IncomingRequest, _ path: String,
  _ handler: (HTTPReply) -> Void
) -> MHD_Result {
  if let outcome = unsafe context.promise(handler, incoming, connection) {
    return unsafe proceed(connection, context, incoming, path, outcome)
  }
  incoming.promisedPath = path
  return CMicroHTTPD_result(1)
}

private func proceed(
  _ connection: OpaquePointer, _ context: DaemonContext, _ incoming: IncomingRequest, _ path: String,
  _ outcome: DaemonContext.Outcome
) -> MHD_Result {
  switch outcome {
  case .answer(let response): unsafe answer(connection, context, incoming.request, path, response)
  case .admitted: unsafe route(connection, context, incoming)
  }
}

/// Called when the first line of a request has arrived; nil leaves the request's own pointer as it is.
func noteRequest(
  _ cls: UnsafeMutableRawPointer?, _ uri: UnsafePointer<CChar>?, _ connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
  guard let cls = unsafe cls, let connection = unsafe connection else { return nil }
  let context = unsafe Unmanaged<DaemonContext>.fromOpaque(cls).takeUnretainedValue()
  context.requestBegan(UInt(bitPattern: connection))
  return nil
}

/// Called when a request has been answered, or its connection has broken.
func forgetRequest(
  _ cls: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
  _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ code: MHD_RequestTerminationCode
) {
  if let kept = unsafe slot?.pointee {
    unsafe Unmanaged<IncomingRequest>.fromOpaque(kept).release()
    unsafe slot?.pointee = nil
  }
  guard let cls = unsafe cls, let connection = unsafe connection else { return }
  let context = unsafe Unmanaged<DaemonContext>.fromOpaque(cls).takeUnretainedValue()
  context.requestEnded(UInt(bitPattern: connection))
}

/// Called when a connection begins and when it ends.
func noteConnection(
  _ cls: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
  _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ code: MHD_ConnectionNotificationCode
) {
  guard let cls = unsafe cls, let connection = unsafe connection else { return }
  let context = unsafe Unmanaged<DaemonContext>.fromOpaque(cls).takeUnretainedValue()
  if CMicroHTTPD_is_start(code) != 0 {
    unsafe context.connectionBegan(
      connection, socket: CMicroHTTPD_socket(connection), session: OpaquePointer(CMicroHTTPD_session(connection)))
  } else {
    context.connectionEnded(UInt(bitPattern: connection))
  }
}

private func answer(
  _ connection: OpaquePointer, _ context: DaemonContext, _ request: HTTPRequest, _ path: String,
  _ response: HTTPResponse
) -> MHD_Result {
  let response = response.coded(for: request)
  let key = UInt(bitPattern: connection)
  let made: OpaquePointer?
  if request.method == "HEAD", case .chunks = response.body {
    unsafe made = unsafe makeHeadOfStream()
  } else {
    unsafe made = unsafe makeResponse(response) { context.clientTook(key) }
  }
  guard let made = unsafe made else { return CMicroHTTPD_result(0) }
  unsafe MHD_add_response_header(made, "Content-Type", response.contentType)
  for field in response.headers + context.gate.headers {
    unsafe MHD_add_response_header(made, field.name, field.value)
  }
  context.observer(path, response.status)
  context.answerBegan(key)
  return unsafe CMicroHTTPD_answer(connection, UInt32(clamping: response.status), made)
}

/// The path of a request target in origin form or in absolute form (RFC 9112 section 3.2).
private func path(of target: String) -> String {
  guard !target.hasPrefix("/") else { return target }
  for scheme in ["http://", "https://"] where target.hasPrefix(scheme) {
    let rest = target.dropFirst(scheme.count)
    return rest.firstIndex(of: "/").map { String(rest[$0...]) } ?? "/"
  }
  return target
}

private func text(_ pointer: UnsafePointer<CChar>?) -> String {
  unsafe pointer.map { unsafe String(cString: $0) } ?? ""
}

// MARK: Fields

private final class FieldCollector {
  var fields: [HTTPRequest.Field] = []
}

private func fields(
  _ each: (OpaquePointer?, MHD_KeyValueIteratorN?, UnsafeMutableRawPointer?) -> Void, _ connection: OpaquePointer
) -> [HTTPRequest.Field] {
  let collector = FieldCollector()
  unsafe each(connection, collectField, Unmanaged.passUnretained(collector).toOpaque())
  return collector.fields
}

private func collectField(
  _ cls: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, _ name: UnsafePointer<CChar>?, _ nameSize: Int,
  _ value: UnsafePointer<CChar>?, _ valueSize: Int
) -> MHD_Result {
  guard let cls = unsafe cls else { return CMicroHTTPD_result(0) }
  let collector = unsafe Unmanaged<FieldCollector>.fromOpaque(cls).takeUnretainedValue()
  let field = unsafe HTTPRequest.Field(text(name, nameSize), text(value, valueSize))
  collector.fields.append(field)
  return CMicroHTTPD_result(1)
}

private func text(_ pointer: UnsafePointer<CChar>?, _ count: Int) -> String {
  guard let pointer = unsafe pointer, count > 0 else { return "" }
  return unsafe String(decoding: UnsafeRawBufferPointer(start: pointer, count: count), as: UTF8.self)
}
