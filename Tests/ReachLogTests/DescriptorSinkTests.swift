import Glibc
import ReachCore
import ReachIO
import ReachLog
import ReachTestSupport
import Testing

/// A pipe whose ends are closed when it goes.
struct Pipe: ~Copyable {
  let reading: Descriptor
  let writing: Descriptor

  init(_ kind: Int32 = 0) {
    var ends: [Int32] = [-1, -1]
    _ = unsafe pipe(&ends)
    reading = Descriptor(owning: ends[0])
    writing = Descriptor(owning: ends[1])
    _ = fcntl(reading.number, F_SETFL, O_NONBLOCK)
  }

  /// All that can be read now.
  func drain() -> [UInt8] {
    var all: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = unsafe read(reading.number, &buffer, buffer.count)
      guard count > 0 else { return all }
      all += buffer.prefix(count)
    }
  }
}

@Suite struct DescriptorSinkTests {
  static func record(_ number: Int) -> LogRecord {
    LogRecord(time: 0, event: LogEvent(.info, "x", "line \(number) " + String(repeating: "-", count: 500)))
  }

  @Test(
    "a pipe nobody reads costs a bounded buffer; the loop goes on, what is lost is counted, the rest comes whole",
    .timeLimit(.minutes(4)))
  func blockedPipe() async throws {
    let (dropped, lines, blocks) = try await withEventLoop { loop in
      let pipe = Pipe()
      let sink = DescriptorSink(inherited: pipe.writing.number, format: .json, on: loop, capacity: 10_000)
      for number in 0..<1000 { sink.write(Self.record(number)) }
      let dropped = sink.dropped
      // The description that was handed down is not changed.
      let blocks = fcntl(pipe.writing.number, F_GETFL) & O_NONBLOCK == 0
      var read = pipe.drain()
      while sink.waitingBytes > 0 {
        _ = try await loop.wait(on: pipe.reading.number, for: .readable, until: .distantFuture)
        read += pipe.drain()
      }
      sink.write(Self.record(5000))
      await sink.flush(until: .distantFuture)
      read += pipe.drain()
      sink.close()
      return (dropped, read.split(separator: 10), blocks)
    }
    #expect(blocks)
    #expect(dropped > 0)
    #expect(lines.count + Int(dropped) == 1001)
    #expect(lines.allSatisfy { $0.first == UInt8(ascii: "{") && $0.last == UInt8(ascii: "}") })
    #expect(String(decoding: lines.last ?? [], as: UTF8.self).contains("line 5000"))
  }

  @Test("a socket is written without waiting, as under a service manager", .timeLimit(.minutes(4)))
  func blockedSocket() async throws {
    let (dropped, blocks) = try await withEventLoop { loop in
      var ends: [Int32] = [-1, -1]
      _ = unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
      defer { for end in ends { close(end) } }
      let sink = DescriptorSink(inherited: ends[0], format: .json, on: loop, capacity: 10_000)
      for number in 0..<5000 { sink.write(Self.record(number)) }
      defer { sink.close() }
      return (sink.dropped, fcntl(ends[0], F_GETFL) & O_NONBLOCK == 0)
    }
    #expect(dropped > 0 && blocks)
  }

  @Test("a flush gives up at its deadline and counts what is left", .timeLimit(.minutes(4)))
  func flush() async throws {
    let (isDone, written, dropped) = try await withEventLoop { loop in
      let pipe = Pipe()
      let sink = DescriptorSink(inherited: pipe.writing.number, format: .json, on: loop)
      for number in 0..<300 { sink.write(Self.record(number)) }
      let isDone = await sink.flush(until: loop.now().advanced(by: .milliseconds(20)))
      let written = pipe.drain().count { $0 == 10 }
      let dropped = sink.dropped
      sink.close()
      return (isDone, written, dropped)
    }
    #expect(!isDone)
    #expect(written + Int(dropped) == 300)
  }

  @Test("a reader that has gone costs the lines, not the process", .timeLimit(.minutes(4)))
  func broken() async throws {
    signal(SIGPIPE, SIG_IGN)
    let dropped = try await withEventLoop { loop in
      var ends: [Int32] = [-1, -1]
      _ = unsafe pipe(&ends)
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      let sink = DescriptorSink(inherited: ends[1], format: .json, on: loop)
      close(ends[0])
      // A program that another test starts just now may hold a copy until it has begun.
      _ = try await eventually("the end of the last reader", on: loop) {
        var entry = pollfd(fd: ends[1], events: 0, revents: 0)
        return unsafe poll(&entry, 1, 0) == 1 && entry.revents & Int16(POLLERR) != 0 ? true : nil
      }
      for number in 0..<3 { sink.write(Self.record(number)) }
      await sink.flush(until: .distantFuture)
      close(ends[1])
      defer { sink.close() }
      return sink.dropped
    }
    #expect(dropped == 3)
  }

  @Test("a file is added to, and opened anew after it has been moved away", .timeLimit(.minutes(4)))
  func file() async throws {
    let path = "/tmp/reachd-log-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
    let (old, new) = try await withEventLoop { loop in
      defer {
        _ = unsafe unlink(path)
        _ = unsafe unlink(path + ".1")
      }
      for number in 0..<2 {
        let sink = try DescriptorSink(.file(path: path), format: .logfmt, on: loop)
        sink.write(Self.record(number))
        sink.close()
      }
      let sink = try DescriptorSink(.file(path: path), format: .logfmt, on: loop)
      _ = unsafe rename(path, path + ".1")
      sink.write(Self.record(2))
      try sink.reopen()
      sink.write(Self.record(3))
      sink.close()
      return (Self.lines(path + ".1"), Self.lines(path))
    }
    #expect(old == 3 && new == 1)
  }

  @Test("a folder that does not exist is said at the start")
  func missing() throws {
    let loop = try EventLoop()
    #expect(throws: SystemError("open", FaultCode(errno: ENOENT))) {
      try DescriptorSink(.file(path: "/nonexistent/reachd.log"), format: .json, on: loop)
    }
  }

  private static func lines(_ path: String) -> Int {
    let number = unsafe open(path, O_RDONLY)
    guard number >= 0 else { return -1 }
    let file = Descriptor(owning: number)
    var buffer = [UInt8](repeating: 0, count: 65536)
    let count = unsafe read(file.number, &buffer, buffer.count)
    return buffer.prefix(max(0, count)).count { $0 == 10 }
  }
}
