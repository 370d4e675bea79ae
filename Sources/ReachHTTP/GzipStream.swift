internal import CZlib

/// A stream in the gzip format (RFC 1952) that bytes are added to.
///
/// It takes 70 KiB, whatever goes through it, so that many slow readers stay cheap. Level 3 with a window of 8 KiB and
/// half of zlib's usual tables costs an exposition 3 ms a megabyte and makes a twentieth of it; the usual level 6 costs
/// three times that for a tenth less.
@safe
final class GzipStream {
  private static let level: Int32 = 3
  private static let windowBits: Int32 = 13
  private static let memoryLevel: Int32 = 6

  private let stream: UnsafeMutablePointer<z_stream>
  /// What one call of zlib may write, filled again and again.
  private var room = [UInt8](repeating: 0, count: 4 * 1024)

  /// nil when there is no memory for it.
  init?() {
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    guard unsafe CZlib_begin_gzip(stream, Self.level, Self.windowBits, Self.memoryLevel) == Z_OK else {
      unsafe stream.deallocate()
      return nil
    }
  }

  deinit {
    unsafe deflateEnd(stream)
    unsafe stream.deallocate()
  }

  /// Appends to `output` all that `input` comes to, so that a reader has it at once.
  func add(_ input: inout [UInt8], to output: inout [UInt8]) { deflate(&input, to: &output, Z_SYNC_FLUSH) }

  /// Appends the end of the stream to `output`. Nothing may be added afterwards.
  func end(into output: inout [UInt8]) {
    var nothing: [UInt8] = []
    deflate(&nothing, to: &output, Z_FINISH)
  }

  private func deflate(_ input: inout [UInt8], to output: inout [UInt8], _ flush: Int32) {
    unsafe input.withUnsafeMutableBufferPointer { input in
      unsafe stream.pointee.next_in = input.baseAddress
      unsafe stream.pointee.avail_in = UInt32(clamping: input.count)
      var isFull = true
      // zlib has more to say as long as it fills the room that it is given.
      while isFull {
        let count = unsafe room.withUnsafeMutableBufferPointer { room in
          unsafe stream.pointee.next_out = room.baseAddress
          unsafe stream.pointee.avail_out = UInt32(clamping: room.count)
          unsafe CZlib.deflate(stream, flush)
          return room.count - Int(unsafe stream.pointee.avail_out)
        }
        output.append(contentsOf: room[..<count])
        isFull = count == room.count
      }
      unsafe stream.pointee.next_in = nil
    }
  }
}
