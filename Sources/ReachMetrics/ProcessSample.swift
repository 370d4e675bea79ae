internal import Glibc

/// What the process uses: the standard `process_*` metrics. A value that cannot be had is nil, and not shown.
public struct ProcessSample: Hashable, Sendable {
  /// User and system time, in nanoseconds.
  public var cpu: Int64?
  /// Open descriptors.
  public var openDescriptors: UInt64?
  /// The soft limit on them.
  public var maxDescriptors: UInt64?
  /// Resident memory.
  public var residentBytes: UInt64?
  /// Address space.
  public var virtualBytes: UInt64?
  /// The soft limit on it.
  public var maxVirtualBytes: UInt64?
  /// When the process started, in nanoseconds since 1970 UTC.
  public var startTime: Int64?
  /// Threads.
  public var threads: UInt64?

  /// A sample in which nothing is known.
  public init() {}

  /// Reads /proc/self (proc(5)) and the limits (getrlimit(2)). A few system calls; nothing blocks.
  public static func current() -> ProcessSample {
    var sample = ProcessSample()
    let ticks = UInt64(clamping: sysconf(Int32(_SC_CLK_TCK)))
    if let stat = ProcessStat(parsing: readFile("/proc/self/stat")), ticks > 0 {
      sample.cpu = Int64(clamping: nanoseconds(ticks: stat.cpuTicks, perSecond: ticks))
      sample.virtualBytes = stat.virtualBytes
      sample.residentBytes = stat.residentPages.multipliedReportingOverflow(by: UInt64(getpagesize())).partialValue
      sample.threads = stat.threads
      if let boot = bootSeconds(in: readFile("/proc/stat")) {
        let start = nanoseconds(ticks: stat.startTicks, perSecond: ticks)
        let (sum, overflow) = start.addingReportingOverflow(boot.multipliedReportingOverflow(by: 1_000_000_000).0)
        if !overflow { sample.startTime = Int64(clamping: sum) }
      }
    }
    sample.openDescriptors = countOpenDescriptors()
    sample.maxDescriptors = limit(RLIMIT_NOFILE)
    sample.maxVirtualBytes = limit(RLIMIT_AS)
    return sample
  }

  private static func nanoseconds(ticks: UInt64, perSecond: UInt64) -> UInt64 {
    let (product, overflow) = ticks.multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? .max : product / perSecond
  }

  private static func limit(_ resource: __rlimit_resource) -> UInt64? {
    var limits = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(resource.rawValue), &limits) == 0 else { return nil }
    return UInt64(limits.rlim_cur)
  }

  private static func countOpenDescriptors() -> UInt64? {
    guard let folder = unsafe opendir("/proc/self/fd") else { return nil }
    defer { unsafe closedir(folder) }
    var count: UInt64 = 0
    while let entry = unsafe readdir(folder) {
      if unsafe entry.pointee.d_name.0 != 46 { count += 1 }
    }
    // One of them is the folder's own.
    return count > 0 ? count - 1 : 0
  }

  private static func readFile(_ path: String) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var contents: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while contents.count < 1 << 20 {
      let count = unsafe read(descriptor, &chunk, chunk.count)
      guard count > 0 else { break }
      contents.append(contentsOf: chunk.prefix(count))
    }
    return contents
  }

  /// The line `btime` of /proc/stat: when the system booted, in Unix seconds.
  static func bootSeconds(in contents: [UInt8]) -> UInt64? {
    for line in contents.split(separator: UInt8(ascii: "\n")) {
      let words = line.split(separator: UInt8(ascii: " "))
      guard words.count == 2, words[0].elementsEqual("btime".utf8) else { continue }
      return UInt64(String(decoding: words[1], as: UTF8.self))
    }
    return nil
  }
}

/// The fields of /proc/PID/stat (proc_pid_stat(5)) that are used.
struct ProcessStat: Hashable {
  /// utime and stime.
  var cpuTicks: UInt64
  var threads: UInt64
  /// Since boot.
  var startTicks: UInt64
  var virtualBytes: UInt64
  var residentPages: UInt64

  /// Reads the file's contents; nil for anything else. The command's name, in parentheses, may hold both blanks and
  /// parentheses, so the fields are counted from the last one.
  init?(parsing contents: [UInt8]) {
    guard let name = contents.lastIndex(of: UInt8(ascii: ")")) else { return nil }
    let words = contents[(name + 1)...].split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
    // The first word behind the name is field 3.
    func field(_ number: Int) -> UInt64? {
      let index = number - 3
      guard words.indices.contains(index) else { return nil }
      return UInt64(String(decoding: words[index], as: UTF8.self))
    }
    guard let user = field(14), let system = field(15), let threads = field(20), let start = field(22),
      let virtual = field(23), let resident = field(24)
    else { return nil }
    cpuTicks = user.addingReportingOverflow(system).partialValue
    self.threads = threads
    startTicks = start
    virtualBytes = virtual
    residentPages = resident
  }
}
