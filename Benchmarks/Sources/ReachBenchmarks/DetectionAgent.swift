internal import CReachBenchmarks
internal import Glibc
internal import ReachCore
internal import ReachIO

/// A running agent whose log is read as it comes, each piece with the time at which it was there to be read. Half of its
/// targets need a connection, half only a path.
final class DetectionAgent {
  /// Something that should have come has not.
  struct Silent: Error, CustomStringConvertible {
    let description: String
  }

  static let targetCount = 1000
  /// In a namespace of its own any port is free.
  private static let port: UInt16 = 10120

  private let process: Int32
  private let log: Descriptor
  private let file: String
  private var rest: [UInt8] = []
  private var last = ""

  /// Starts it. Its targets are behind the stage's link, and rounds are minutes apart.
  init(_ program: String, on stage: DetectionStage) throws {
    var ends: [Int32] = [-1, -1]
    let code = unsafe CReachBenchmarks_large_pipe(&ends)
    if code != 0 { throw SystemError("pipe2", FaultCode(errno: code)) }
    log = Descriptor(owning: ends[0])
    let writing = Descriptor(owning: ends[1])
    file = "/tmp/reachd-bench.\(getpid()).yaml"
    try Self.write(Self.configuration(port: stage.port), to: file)
    process = try start(
      [program, "run", "--config", file, "--listen", "127.0.0.1:\(Self.port)", "--log-format", "json"],
      output: writing.number)
  }

  deinit {
    kill(process, SIGTERM)
    _ = CReachBenchmarks_wait(process)
    _ = unsafe unlink(file)
  }

  private static func configuration(port: UInt16) -> String {
    var text = "defaults: { interval: 5m, timeout: 20s }\ntargets:\n"
    for number in 1...targetCount {
      let address = "198.51.\(100 + number / 256).\(number % 256)"
      let ending = number % 2 == 0 ? ", port: \(port)" : ""
      text += "  - { name: t\(number), address: \(address)\(ending) }\n"
    }
    return text
  }

  private static func write(_ text: String, to path: String) throws(SystemError) {
    let file = Descriptor(
      owning: try checked("open", unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)))
    let bytes = Array(text.utf8)
    guard unsafe Glibc.write(file.number, bytes, bytes.count) == bytes.count else { throw SystemError.current("write") }
  }

  /// Reads the log until so many lines that meet the condition have come. Returns when each was there to be read.
  @discardableResult
  func awaitLines(_ count: Int, where condition: (String) -> Bool) throws -> [Int64] {
    var times: [Int64] = []
    let deadline = nanoseconds() + 30_000_000_000
    while times.count < count {
      guard nanoseconds() < deadline else {
        throw Silent(
          description: "\(times.count) of \(count) lines; the last: \(String(decoding: rest, as: UTF8.self))")
      }
      // What is read is looked at only once no more is there, so that looking delays no reading.
      for (bytes, time) in readAll() {
        rest += bytes
        var start = 0
        while let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
          last = String(decoding: rest[start..<end], as: UTF8.self)
          if condition(last) { times.append(time) }
          start = end + 1
        }
        rest.removeFirst(start)
      }
    }
    return times
  }

  /// What comes until nothing has come for 20 ms.
  private func readAll() -> [(bytes: [UInt8], time: Int64)] {
    var pieces: [(bytes: [UInt8], time: Int64)] = []
    var chunk = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      var entry = pollfd(fd: log.number, events: Int16(POLLIN), revents: 0)
      guard unsafe poll(&entry, 1, 20) > 0 else { return pieces }
      let time = nanoseconds()
      let count = unsafe read(log.number, &chunk, chunk.count)
      guard count > 0 else { return pieces }
      pieces.append((Array(chunk[..<count]), time))
    }
  }

  /// A fetch of /metrics.
  struct Scrape {
    /// How many targets it shows as NotReachable.
    let lost: Int
    /// When its last byte was there.
    let endedAt: Int64
  }

  /// Fetches /metrics whole.
  func scrape() throws -> Scrape {
    let socket = Descriptor(owning: try checked("connect", CReachBenchmarks_connect_to(Self.port)))
    let request = Array("GET /metrics HTTP/1.0\r\n\r\n".utf8)
    guard unsafe send(socket.number, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
      throw SystemError.current("send")
    }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 256 * 1024)
    while true {
      let count = unsafe read(socket.number, &chunk, chunk.count)
      if count < 0 { throw SystemError.current("read") }
      if count == 0 { break }
      bytes += chunk[..<count]
    }
    let end = nanoseconds()
    let start = Array("reachability_status{".utf8)
    let ending = Array("status=\"NotReachable\"} 1".utf8)
    let lines = bytes.split(separator: UInt8(ascii: "\n"))
    let lost = lines.count { $0.starts(with: start) && $0.suffix(ending.count).elementsEqual(ending) }
    return Scrape(lost: lost, endedAt: end)
  }
}
