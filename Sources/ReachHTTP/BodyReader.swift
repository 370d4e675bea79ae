internal import CMicroHTTPD

/// A body on its way out: the piece that is being sent, and where the next one comes from.
private final class BodyReader {
  private var piece: [UInt8]
  private var sent = 0
  private var source: (any ChunkSource)?
  private let onTaken: () -> Void

  init(_ body: HTTPResponse.Body, onTaken: @escaping () -> Void) {
    self.onTaken = onTaken
    switch body {
    case .bytes(let bytes):
      piece = bytes
      source = nil
    case .chunks(let chunks):
      piece = []
      source = chunks
    }
  }

  /// Copies what comes next into the buffer; nil at the end.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    while sent == piece.count {
      piece.removeAll(keepingCapacity: true)
      sent = 0
      // A source that appends nothing is taken to be at its end, whatever it says.
      guard source?.next(into: &piece) == true, !piece.isEmpty else { return nil }
    }
    let count = min(buffer.count, piece.count - sent)
    unsafe buffer.copyBytes(from: piece[sent..<(sent + count)])
    sent += count
    onTaken()
    return count
  }
}

/// Bodies up to this size are handed to the library whole.
private let copiedSize = 16 * 1024
/// What the library asks for at once.
private let blockSize = 32 * 1024

/// A response of the library's, without headers; nil when there is no memory for it. `onTaken` is called each time
/// that the client has made room for more of a large body.
func makeResponse(_ response: HTTPResponse, onTaken: @escaping () -> Void) -> OpaquePointer? {
  var size: Int64 = -1
  if case .bytes(let bytes) = response.body {
    if bytes.count <= copiedSize {
      return unsafe bytes.withUnsafeBytes { unsafe CMicroHTTPD_copy($0.count, $0.baseAddress) }
    }
    size = Int64(bytes.count)
  }
  let reader = unsafe Unmanaged.passRetained(BodyReader(response.body, onTaken: onTaken)).toOpaque()
  let made = unsafe CMicroHTTPD_stream(size, blockSize, readBody, reader, forgetBody)
  // The library takes the reader over only with a response.
  if unsafe made == nil { unsafe forgetBody(reader) }
  return unsafe made
}

/// A response to HEAD for a body whose length is not known: without a length, and without chunks.
func makeHeadOfStream() -> OpaquePointer? {
  unsafe CMicroHTTPD_head_of_stream(readBody, forgetBody)
}

private func readBody(
  _ cls: UnsafeMutableRawPointer?, _ position: UInt64, _ buffer: UnsafeMutablePointer<CChar>?, _ capacity: Int
) -> Int {
  guard let cls = unsafe cls, let buffer = unsafe buffer, capacity > 0 else { return CMicroHTTPD_end() }
  let reader = unsafe Unmanaged<BodyReader>.fromOpaque(cls).takeUnretainedValue()
  let room = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: capacity)
  return unsafe reader.read(into: room) ?? CMicroHTTPD_end()
}

private func forgetBody(_ cls: UnsafeMutableRawPointer?) {
  if let cls = unsafe cls { unsafe Unmanaged<BodyReader>.fromOpaque(cls).release() }
}
