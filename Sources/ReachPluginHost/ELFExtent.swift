internal import Glibc

/// How far an ELF file says it reaches (elf(5)).
///
/// The loader maps what the headers speak of without asking whether the file is that long, and the first access beyond
/// its end kills the process with SIGBUS: a plugin that was copied by half must not get that far.
enum ELFExtent {
  /// Whether the file is as long as its headers say. True of a file that is no 64-bit ELF: the loader refuses it well.
  static func isWhole(_ descriptor: Int32, size: UInt64) -> Bool {
    guard let header = read(descriptor, at: 0, count: 64), header.starts(with: [0x7f, 0x45, 0x4c, 0x46, 2]) else {
      return true
    }
    let sectionsEnd = end(of: word(header, 40, 8), count: word(header, 60, 2), each: word(header, 58, 2))
    let (programs, count, each) = (word(header, 32, 8), word(header, 56, 2), word(header, 54, 2))
    guard sectionsEnd <= size, end(of: programs, count: count, each: each) <= size, each >= 56 else { return false }
    for index in 0..<count {
      guard let program = read(descriptor, at: programs &+ index &* each, count: 56) else { return false }
      if end(of: word(program, 8, 8), count: word(program, 32, 8), each: 1) > size { return false }
    }
    return true
  }

  /// Where `count` things of `each` bytes end that begin at `start`; as far as can be when it overflows.
  private static func end(of start: UInt64, count: UInt64, each: UInt64) -> UInt64 {
    let (length, isTooLong) = count.multipliedReportingOverflow(by: each)
    let (end, isTooFar) = start.addingReportingOverflow(length)
    return isTooLong || isTooFar ? .max : end
  }

  /// A number of `count` bytes, little end first as on every machine reachd runs on.
  private static func word(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> UInt64 {
    bytes[offset..<(offset + count)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  private static func read(_ descriptor: Int32, at offset: UInt64, count: Int) -> [UInt8]? {
    guard let position = off_t(exactly: offset) else { return nil }
    var bytes = [UInt8](repeating: 0, count: count)
    let got = unsafe bytes.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, count, position) }
    return got == count ? bytes : nil
  }
}
