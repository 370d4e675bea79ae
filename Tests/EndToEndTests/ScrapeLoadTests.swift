import Glibc
import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// Many scrapes at once of many targets, one of them by a client that hardly reads.
@Suite(
  .enabled(if: areClientsThere, "needs Debian's packages curl and prometheus"), .timeLimit(.minutes(5)))
struct ScrapeLoadTests {
  @Test("five clients at once, one of them reading a byte a second, cost little memory and no round of 10,000 targets")
  func load() async throws {
    try await withEventLoop { loop in
      let lines = (0..<10_000).map { "  - { name: t\($0), interface: lo }\n" }
      let agent = try await RunningAgent.start(
        "defaults: { interval: 20s, timeout: 1s }\ntargets:\n" + lines.joined(), on: loop)
      try await agent.awaitReady()
      func scrape(times: Int, _ options: [String] = []) throws -> ChildProcess {
        let url = "http://127.0.0.1:\(agent.client.port)/metrics"
        let urls = (0..<times).flatMap { _ in ["--output", "/dev/null", url] }
        return try ChildProcess(
          ["curl", "--silent", "--write-out", "%{stderr}%{http_code} "] + options + urls, on: loop)
      }
      // What the first scrape takes is there for the others.
      #expect(try await scrape(times: 1).exitStatus() == 0)
      let before = try await agent.client.metrics(beginningWith: "reachd_")
      let resident = try #require(try agent.process.residentKibibytes)
      try agent.resetPeak()

      let received = LoopConfined(0, on: loop)
      let port = agent.client.port
      let slow = loop.spawn { try? await readSlowly(from: port, counting: received, on: loop) }
      var after = before
      func grown(_ name: String) -> Double { (after.value(name) ?? 0) - (before.value(name) ?? 0) }
      // Until second rounds are under way: the first ones were made as close together as they could be.
      repeat {
        let clients = try [["--compressed"], ["--compressed"], [], []].map { try scrape(times: 3, $0) }
        for client in clients {
          #expect(try await client.exitStatus(within: .seconds(100)) == 0)
          #expect(client.errors == "200 200 200 ")
        }
        after = try await agent.client.metrics(beginningWith: "reachd_")
      } while grown("reachd_schedule_lag_seconds_count") == 0
      #expect(grown("reachd_rounds_skipped_total") == 0)
      let peak = try agent.peakKibibytes()
      print("resident memory: \(resident) KiB, at the most \(peak) KiB")
      // A page is some megabytes; what is in memory of each is a piece.
      #expect(peak < resident + 8 * 1024)
      try await eventually("a byte for the slow one", on: loop) { received.withState { $0 } > 0 ? () : nil }
      slow.cancel()
      await slow.value
      #expect(try await agent.stop() == 0)
    }
  }
}

extension RunningAgent {
  /// Has the kernel forget the most memory that the agent has had (proc_pid_clear_refs(5)).
  fileprivate func resetPeak() throws {
    let number = try retryingInterrupts("open") {
      unsafe open("/proc/\(process.processID)/clear_refs", O_WRONLY | O_CLOEXEC)
    }
    defer { close(number) }
    _ = try retryingInterrupts("write") { Int32(clamping: unsafe write(number, "5", 1)) }
  }

  /// The most memory that it has had since.
  fileprivate func peakKibibytes() throws -> Int {
    let status = try textOfFile("/proc/\(process.processID)/status")
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
    return try #require(line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) })
  }
}

/// A client that asks for the metrics, uncompressed, and reads a byte a second until it is cancelled. `received` counts.
private func readSlowly(from port: UInt16, counting received: LoopConfined<Int>, on loop: EventLoop) async throws {
  let socket = try Socket.openTCP(.ipv4)
  defer { socket.close() }
  _ = try socket.connect(to: SocketAddress(.loopback, port: port))
  _ = try await loop.wait(on: socket.number, for: .writable, until: .distantFuture)
  var request = Array("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
  _ = unsafe send(socket.number, &request, request.count, Int32(MSG_NOSIGNAL))
  while !Task.isCancelled {
    await loop.sleep(until: loop.now().advanced(by: .seconds(1)))
    var byte: UInt8 = 0
    if unsafe recv(socket.number, &byte, 1, 0) == 1 { received.withState { $0 += 1 } }
  }
}
