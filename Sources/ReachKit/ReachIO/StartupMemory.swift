internal import CReachLinux
internal import Glibc

/// Memory that only the start of a process needed.
public enum StartupMemory {
  /// Gives back what the start used and steady work does not: pages of program text that only linking, parsing and the
  /// first round ran through, and the heap's free blocks (madvise(2) MADV_DONTNEED, malloc_trim(3)).
  ///
  /// Text is never written to, so nothing is lost: a page that is needed after all is mapped again from the page cache.
  /// Call it once, when start-up is over; it takes about a millisecond.
  public static func release() {
    for range in textRanges(in: contents(of: "/proc/self/maps")) {
      guard let start = unsafe UnsafeMutableRawPointer(bitPattern: range.lowerBound) else { continue }
      _ = unsafe madvise(start, range.count, MADV_DONTNEED)
    }
    trim()
  }

  /// Gives back the heap's free blocks (malloc_trim(3)), after something large has been let go.
  public static func trim() { _ = malloc_trim(0) }

  /// The private mappings of files that may be executed and not written (proc_pid_maps(5)), whose pages are therefore
  /// those of the file. Lines that cannot be understood are passed over.
  static func textRanges(in maps: [UInt8]) -> [Range<UInt>] {
    maps.split(separator: UInt8(ascii: "\n")).compactMap { line in
      let fields = line.split(separator: UInt8(ascii: " "))
      guard fields.count >= 6, fields[1].elementsEqual("r-xp".utf8), fields[5].first == UInt8(ascii: "/") else {
        return nil
      }
      let ends = fields[0].split(separator: UInt8(ascii: "-")).map {
        UInt(String(decoding: $0, as: UTF8.self), radix: 16)
      }
      guard ends.count == 2, let start = ends[0], let end = ends[1], start < end else { return nil }
      return start..<end
    }
  }

  private static func contents(of path: String) -> [UInt8] {
    let number = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard number >= 0 else { return [] }
    let descriptor = Descriptor(owning: number)
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 16_384)
    while true {
      let count = unsafe piece.withUnsafeMutableBytes { unsafe read(descriptor.number, $0.baseAddress, $0.count) }
      guard count > 0 else { return bytes }
      bytes += piece[..<count]
    }
  }
}
