internal import CReachBenchmarks
internal import ReachCore
internal import ReachIO
internal import ReachNetlink
internal import ReachProbe
internal import TCPProbe

extension Benchmark {
  static let tcpProbe = Benchmark(
    name: "tcp", summary: "connections to a loopback listener in another process, 32 at a time"
  ) {
    var port: UInt16 = 0
    let listener = unsafe CReachBenchmarks_start_listener(0x7f00_0001, &port)
    if listener < 0 { throw SystemError("fork", FaultCode(errno: -listener)) }
    defer { CReachBenchmarks_stop_listener(listener) }
    let number = port
    try compare(
      [
        Contender(name: "bare C") { try connectInC(number, $0, isEqual: false) },
        Contender(name: "bare C, with the probe's calls") { try connectInC(number, $0, isEqual: true) },
        Contender(name: "tcp probe") { try probe(number, $0, route: RouteFinding(.unicast)) },
        Contender(name: "tcp probe, known to be local") { try probe(number, $0, route: RouteFinding(.local)) },
      ], count: 4_096)
  }
}

private struct Unexpected: Error { let open: Int64 }

private let inFlight = 32

private func connectInC(_ port: UInt16, _ count: Int, isEqual: Bool) throws {
  let open = CReachBenchmarks_connect(port, Int64(count), Int32(inFlight), isEqual ? 1 : 0)
  guard open == Int64(count) else { throw Unexpected(open: open) }
}

private func probe(_ port: UInt16, _ count: Int, route: RouteFinding) throws {
  try onEventLoop { loop in
    let session = try NetlinkSession(loop: loop)
    let host = ProbeHost(
      loop: loop, links: try LinkMonitor(loop: loop, session: session), netlink: session, defaultPath: [])
    let backend = try TCPProbe.registration.make(OptionValues(["close": .string("reset")]), host)
    let address = IPAddress(ipv4: 0x7f00_0001)
    let target = Target(name: "target", kind: .address(address), port: port)
    let candidates = [Candidate(address, route: route)]
    let open = LoopConfined<Int64>(0, on: loop)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<inFlight {
        group.addTask(executorPreference: loop) {
          for _ in 0..<(count / inFlight) {
            let context = ProbeContext(
              host: host, deadline: loop.now().advanced(by: .seconds(5)), candidates: candidates)
            guard case .tcp(let findings)? = try? await backend.probe(target, in: context) else { continue }
            if findings.first?.result == .open { open.withState { $0 += 1 } }
          }
        }
      }
    }
    let total = open.withState { $0 }
    guard total == Int64(count) else { throw Unexpected(open: total) }
  }
}
