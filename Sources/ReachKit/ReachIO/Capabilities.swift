internal import Glibc

/// The capabilities that this process can use now (capabilities(7)).
public struct Capabilities: Hashable, Sendable {
  /// A bit for each, by its number.
  private let effective: UInt64

  /// Those of this process; none where the kernel does not say (proc_pid_status(5)).
  public static func ofThisProcess() -> Capabilities { Capabilities(status: SmallTextFile.read("/proc/self/status")) }

  /// Those that the text of /proc/PID/status tells of.
  init(status: String) {
    let line = status.split(separator: "\n").first { $0.hasPrefix("CapEff:") }
    effective = line.flatMap { UInt64($0.dropFirst(7).drop { $0 == "\t" || $0 == " " }, radix: 16) } ?? 0
  }

  /// Whether it is among them; false for a name that is not known here.
  public func contains(_ name: String) -> Bool {
    let numbers = ["CAP_NET_ADMIN": 12, "CAP_NET_RAW": 13] as [String: UInt64]
    return numbers[name].map { effective >> $0 & 1 == 1 } ?? false
  }
}

/// Files of a page at most.
enum SmallTextFile {
  /// The text of a file; empty when it cannot be read.
  static func read(_ path: String) -> String {
    guard let number = try? retryingInterrupts("open", { unsafe open(path, O_RDONLY | O_CLOEXEC) }) else { return "" }
    let descriptor = Descriptor(owning: number)
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = unsafe Glibc.read(descriptor.number, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }
}
