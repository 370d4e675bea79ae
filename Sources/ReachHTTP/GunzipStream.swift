internal import CZlib

/// Reads a stream in the gzip format (RFC 1952) piece by piece.
@safe
final class GunzipStream {
  private static let pieceSize = 16 * 1024

  private let stream: UnsafeMutablePointer<z_stream>
  private let compressed: [UInt8]
  private var taken = 0

  init?(_ compressed: [UInt8]) {
    self.compressed = compressed
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    guard unsafe CZlib_begin_gunzip(stream) == Z_OK else {
      unsafe stream.deallocate()
      return nil
    }
  }

  deinit {
    unsafe inflateEnd(stream)
    unsafe stream.deallocate()
  }

  /// Appends the next piece; false at the end.
  func next(into bytes: inout [UInt8]) -> Bool {
    let piece = unsafe [UInt8](unsafeUninitializedCapacity: Self.pieceSize) { room, count in
      unsafe compressed.withUnsafeBufferPointer { input in
        let rest = unsafe UnsafeMutablePointer(mutating: input.baseAddress.map { unsafe $0 + taken })
        unsafe stream.pointee.next_in = rest
        unsafe stream.pointee.avail_in = UInt32(clamping: input.count - taken)
        unsafe stream.pointee.next_out = room.baseAddress
        unsafe stream.pointee.avail_out = UInt32(clamping: room.count)
        unsafe inflate(stream, Z_NO_FLUSH)
        taken = input.count - Int(unsafe stream.pointee.avail_in)
        count = room.count - Int(unsafe stream.pointee.avail_out)
      }
    }
    bytes.append(contentsOf: piece)
    return !piece.isEmpty
  }
}
