/// Bytes that exist for as long as the process: what each scrape writes again. A plain word and a count, so that a copy
/// counts no references.
@safe
struct StaticBytes: Sendable {
  let count: Int
  /// Readable up to the next multiple of `ByteWriter.stride`.
  nonisolated(unsafe) let start: UnsafePointer<UInt8>

  /// Sets memory aside that is never given back: only for constants.
  init(_ bytes: some Collection<UInt8>) {
    count = bytes.count
    let padded = PaddedBytes.padded(bytes.count)
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: padded)
    unsafe memory.initialize(repeating: 0, count: padded)
    _ = unsafe UnsafeMutableBufferPointer(start: memory, count: bytes.count).update(fromContentsOf: bytes)
    unsafe start = UnsafePointer(memory)
  }

  init(_ text: String) { self.init(text.utf8) }

  /// The bytes, for the length of the call.
  func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    unsafe body(UnsafeBufferPointer(start: start, count: count))
  }
}

/// Values that exist for as long as the process, to be gone through without counting references.
@safe
struct StaticList<Element: Sendable>: Sendable {
  let count: Int
  private nonisolated(unsafe) let start: UnsafePointer<Element>

  /// Sets memory aside that is never given back: only for constants.
  init(_ elements: [Element]) {
    count = elements.count
    let memory = UnsafeMutablePointer<Element>.allocate(capacity: max(1, elements.count))
    _ = unsafe UnsafeMutableBufferPointer(start: memory, count: count).initialize(fromContentsOf: elements)
    unsafe start = UnsafePointer(memory)
  }

  @inline(__always)
  subscript(index: Int) -> Element {
    precondition(index >= 0 && index < count)
    return unsafe start[index]
  }
}

/// Bytes in storage that is larger by up to a stride, so that they are copied without a look at where they end.
struct PaddedBytes: Sendable {
  let count: Int
  private let storage: [UInt8]

  init(_ bytes: [UInt8]) {
    count = bytes.count
    var storage: [UInt8] = []
    storage.reserveCapacity(Self.padded(bytes.count))
    storage.append(contentsOf: bytes)
    storage.append(contentsOf: repeatElement(0, count: Self.padded(bytes.count) - bytes.count))
    self.storage = storage
  }

  /// The next multiple of the stride; at least one.
  static func padded(_ count: Int) -> Int {
    max(1, (count + ByteWriter.stride - 1) / ByteWriter.stride) * ByteWriter.stride
  }

  /// The bytes, for the length of the call; readable up to the next multiple of the stride.
  @inline(__always)
  func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    unsafe storage.withUnsafeBufferPointer { storage in
      unsafe body(UnsafeBufferPointer(rebasing: storage.prefix(count)))
    }
  }
}
