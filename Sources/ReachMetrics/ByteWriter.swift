/// Writes bytes into memory that was set aside before. What finds no room is left out, and `hasOverflowed` says so: the
/// writer never grows, so that writing a number costs no more than its digits.
///
/// Whoever makes one keeps the memory for as long as it is used.
@safe
struct ByteWriter {
  private let start: UnsafeMutablePointer<UInt8>
  private let capacity: Int
  private(set) var count = 0
  /// Whether something was left out; what has been written since then means nothing.
  private(set) var hasOverflowed = false

  private nonisolated(unsafe) static let nowhere = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)

  /// A writer into all of the memory, from its beginning.
  init(_ memory: UnsafeMutableBufferPointer<UInt8>) {
    // Where there is no memory, there is room for nothing.
    capacity = unsafe memory.baseAddress == nil ? 0 : memory.count
    unsafe start = memory.baseAddress ?? Self.nowhere
  }

  /// Forgets what was written behind that point, and that it overflowed.
  mutating func rollBack(to mark: Int) {
    count = min(count, max(0, mark))
    hasOverflowed = false
  }

  // MARK: Bytes

  /// How many bytes are copied at a time. What is copied that way has as many behind it that may be read, and as much
  /// room behind its copy: a test for the end of every few bytes would cost more than the bytes do.
  static let stride = 32

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    guard hasRoom(for: 1) else { return }
    unsafe start[count] = byte
    count &+= 1
  }

  mutating func append(_ text: String) {
    for byte in text.utf8 { append(byte) }
  }

  mutating func append(_ bytes: [UInt8]) {
    guard hasRoom(for: bytes.count) else { return }
    unsafe bytes.withUnsafeBufferPointer { bytes in
      guard let source = bytes.baseAddress else { return }
      unsafe (start + count).initialize(from: source, count: bytes.count)
    }
    count &+= bytes.count
  }

  @inline(__always)
  mutating func append(_ bytes: StaticBytes) {
    guard hasRoom(for: bytes.count &+ Self.stride) else { return }
    unsafe copy(bytes.start, bytes.count)
  }

  @inline(__always)
  mutating func append(_ bytes: PaddedBytes) {
    guard hasRoom(for: bytes.count &+ Self.stride) else { return }
    unsafe bytes.withBytes { bytes in
      if let source = bytes.baseAddress { unsafe copy(source, bytes.count) }
    }
  }

  /// Appends again what was written there before.
  @inline(__always)
  mutating func append(again range: Range<Int>) {
    guard range.lowerBound >= 0, range.upperBound <= count, hasRoom(for: range.count &+ Self.stride) else { return }
    unsafe copy(start + range.lowerBound, range.count)
  }

  /// Copies in strides. There must be room for one more than there are bytes, and as much to read.
  @inline(__always)
  private mutating func copy(_ source: UnsafePointer<UInt8>, _ size: Int) {
    let from = unsafe UnsafeRawPointer(source)
    let to = unsafe UnsafeMutableRawPointer(start + count)
    var offset = 0
    while offset < size {
      let bytes = unsafe from.loadUnaligned(fromByteOffset: offset, as: SIMD32<UInt8>.self)
      unsafe to.storeBytes(of: bytes, toByteOffset: offset, as: SIMD32<UInt8>.self)
      offset &+= Self.stride
    }
    count &+= size
  }

  /// Moves what was written behind `mark` by so many bytes, forward or back, and leaves the gap for `set`.
  mutating func shift(from mark: Int, by distance: Int) {
    guard mark >= 0, mark <= count, mark + distance >= 0, hasRoom(for: max(0, distance)) else { return }
    unsafe (start + mark + distance).update(from: start + mark, count: count - mark)
    count += distance
  }

  /// Writes over a byte that is there.
  mutating func set(_ byte: UInt8, at index: Int) {
    guard index >= 0, index < count else { return }
    unsafe start[index] = byte
  }

  @inline(__always)
  private mutating func hasRoom(for needed: Int) -> Bool {
    if needed <= capacity &- count { return true }
    hasOverflowed = true
    return false
  }

  // MARK: Numbers

  /// `00` to `99`.
  private static let digits: StaticBytes = {
    var pairs: [UInt8] = []
    for number: UInt8 in 0..<100 { pairs += [48 + number / 10, 48 + number % 10] }
    return StaticBytes(pairs)
  }()
  private static let mostDigits = 20

  /// Appends the decimal digits.
  @inline(__always)
  mutating func append(decimal value: UInt64) {
    if value < 10 { return append(48 &+ UInt8(truncatingIfNeeded: value)) }
    appendDigits(of: value)
  }

  /// Appends the decimal digits, behind a minus for a negative number.
  @inline(__always)
  mutating func append(decimal value: Int64) {
    if value < 0 { append(UInt8(ascii: "-")) }
    append(decimal: value.magnitude)
  }

  private mutating func appendDigits(of value: UInt64) {
    guard hasRoom(for: Self.mostDigits) else { return }
    var length = 1
    var bound: UInt64 = 10
    while length < Self.mostDigits, value >= bound {
      length += 1
      bound = bound &* 10
    }
    write(value, digits: length)
    count &+= length
  }

  /// Writes so many digits behind what is there, which must have room.
  private mutating func write(_ value: UInt64, digits length: Int) {
    var rest = value
    var place = count &+ length
    unsafe Self.digits.withBytes { pairs in
      while place &- count >= 2 {
        let pair = 2 &* Int(truncatingIfNeeded: rest % 100)
        rest /= 100
        place &-= 2
        unsafe start[place] = pairs[pair]
        unsafe start[place &+ 1] = pairs[pair &+ 1]
      }
      if place > count { unsafe start[count] = 48 &+ UInt8(truncatingIfNeeded: rest % 10) }
    }
  }

  /// Appends nanoseconds as seconds: exact, without trailing zeros.
  mutating func append(seconds nanoseconds: Int64) {
    if nanoseconds < 0 { append(UInt8(ascii: "-")) }
    let magnitude = nanoseconds.magnitude
    append(decimal: magnitude / 1_000_000_000)
    let fraction = magnitude % 1_000_000_000
    guard fraction != 0 else { return }
    append(UInt8(ascii: "."))
    guard hasRoom(for: 9) else { return }
    write(fraction, digits: 9)
    count &+= 9
    while unsafe start[count &- 1] == 48 { count &-= 1 }
  }

  // MARK: Elsewhere

  /// What `body` writes, as an array, for what is rendered once. `limit` is what it takes at most.
  static func bytes(limit: Int = 4096, _ body: (inout ByteWriter) -> Void) -> [UInt8] {
    unsafe Array(unsafeUninitializedCapacity: limit) { memory, count in
      var writer = unsafe ByteWriter(memory)
      body(&writer)
      count = writer.count
    }
  }
}
