internal import CMicroHTTPD
internal import ReachCore

// What libmicrohttpd calls. All of it happens inside of MHD_run or MHD_stop_daemon, on the event loop; nothing here may
// trap on what a client sends.

/// A request on its way in: its head, what has arrived of its body, and, where the answer comes later, that.
final class IncomingRequest {
  var request: HTTPRequest
  /// The route's path, while the answer is waited for.
  var promisedPath: String?
  var response: HTTPResponse?
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
    unsafe slot.pointee = Unmanaged.passRetained(IncomingRequest(head)).toOpaque()
    if let refusal = head.framingRefusal(version: unsafe text(version)) {
      return unsafe answer(connection, context, head, HTTPRoutes.otherPath, refusal)
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
    // Taken up again: the answer is there. Should it not be, the connection is of no more use.
    guard let response = incoming.response else { return no }
    incoming.promisedPath = nil
    incoming.response = nil
    return unsafe answer(connection, context, incoming.request, path, response)
  }
  let count = unsafe size.pointee
  if count > 0 {
    // A body that does not say its length and grows too long: there is no way to answer before its end.
    guard let data = unsafe data, count <= context.limits.bodyBytes - incoming.request.body.count else { return no }
    unsafe incoming.request.body.append(contentsOf: UnsafeRawBufferPointer(start: data, count: count))
    unsafe size.pointee = 0
    return yes
  }
  let request = incoming.request
  let (path, action) = context.routes.route(request)
  switch action {
  case .now(let handler): return unsafe answer(connection, context, request, path, handler(request))
  case .later(let handler):
    if let response = unsafe context.promise({ handler(request, $0) }, incoming, connection) {
      return unsafe answer(connection, context, request, path, response)
    }
    incoming.promisedPath = path
    return yes
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
  let key = UInt(bitPattern: connection)
  if CMicroHTTPD_is_start(code) != 0 {
    context.connectionBegan(key, socket: unsafe CMicroHTTPD_socket(connection))
  } else {
    context.connectionEnded(key)
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
  for field in response.headers { unsafe MHD_add_response_header(made, field.name, field.value) }
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
