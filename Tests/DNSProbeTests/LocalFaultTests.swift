import Glibc
import ReachCore
import ReachIO
import ReachProbe
import ReachTestSupport
import Testing

@testable import DNSProbe

/// This host's own trouble, and what it leaves behind.
@Suite struct LocalFaultTests {
  static let address: IPAddress = "192.0.2.1"

  @Test("system calls' errors are sorted into nobody there and this host's fault")
  func errors() {
    let server = Nameserver(address: .loopback)
    let unreachable: [(StaticName, Int32)] = [
      ("recv", ECONNREFUSED), ("connect", ENETUNREACH), ("connect", EHOSTUNREACH), ("connect", EACCES),
      ("connect", EINVAL), ("send", ENETUNREACH), ("socket", EAFNOSUPPORT),
      ("setsockopt(SO_BINDTODEVICE)", ENODEV),
    ]
    for (call, number) in unreachable {
      let reply = SocketErrors.reply(SystemError(call, FaultCode(errno: number)), server: server)
      #expect(reply == .unreachable(FaultCode(errno: number)))
    }
    let faults: [(StaticName, Int32)] = [
      ("socket", EMFILE), ("socket", ENFILE), ("socket", ENOBUFS), ("send", EPERM), ("send", ENOBUFS),
      ("socket", EACCES), ("bind", EADDRNOTAVAIL), ("setsockopt(SO_MARK)", EPERM), ("epoll_ctl", ENOSPC),
    ]
    for (call, number) in faults {
      guard case .fault(let fault) = SocketErrors.reply(SystemError(call, FaultCode(errno: number)), server: server)
      else {
        Issue.record("\(call.text) \(number) is no fault")
        continue
      }
      #expect(fault.reason == .probeError(FaultCode(errno: number)))
      #expect(fault.detail.contains("127.0.0.1:53"))
    }
    #expect(SocketErrors.reply(SystemError("recv", FaultCode(errno: ECONNRESET)), server: server) == .closed)
  }

  @Test("a source address that is not ours is this host's fault", .timeLimit(.minutes(4)))
  func foreignSource() async throws {
    let finding = try await withEventLoop { loop in
      let server = try FakeNameServer(loop) { .reply($0.addresses([Self.address])) }
      defer { server.stop() }
      let resolver = Resolver(options: options(server.endpoint) { $0.bindsSource = true }, loop: loop)
      return await resolver.resolve(on: loop, source: SourceBinding(address: "192.0.2.77"))
    }
    guard case .fault(let fault) = finding.result else {
      Issue.record("the result is \(finding.result)")
      return
    }
    #expect(fault.reason == .probeError(FaultCode(errno: EADDRNOTAVAIL)))
  }

  @Test("queries leave from the target's source only where that is asked for", .timeLimit(.minutes(4)))
  func source() async throws {
    for (binds, result) in [(true, true), (false, true)] {
      let finding = try await withEventLoop { loop in
        let server = try FakeNameServer(loop) { .reply($0.addresses([Self.address])) }
        defer { server.stop() }
        let resolver = Resolver(options: options(server.endpoint) { $0.bindsSource = binds }, loop: loop)
        return await resolver.resolve(on: loop, source: SourceBinding(address: binds ? "127.0.0.9" : "192.0.2.77"))
      }
      #expect((finding.result == .resolved) == result)
    }
  }

  @Test(
    "a firewall of this host that forbids to send is its fault, a route that leads nowhere is not",
    .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"), .timeLimit(.minutes(4)))
  func firewall() async throws {
    let findings = try await withNetworkNamespace { loop, network in
      let gateway = try network.stageGateway()
      try network.nft(
        "add table ip t\nadd chain ip t out { type filter hook output priority 0; }\n"
          + "add rule ip t out udp dport 53 ip daddr 192.0.2.254 drop")
      try network.ip(
        """
        route add unreachable 203.0.113.1
        route add prohibit 203.0.113.2
        route add blackhole 203.0.113.3
        """)
      var findings: [DNSFinding] = []
      for server in ["192.0.2.254", "203.0.113.1", "203.0.113.2", "203.0.113.3", "198.51.100.9"] {
        let options = options(Nameserver(address: try IPAddress(parsing: server)))
        findings.append(await Resolver(options: options, loop: loop).resolve(within: .seconds(3), on: loop))
      }
      withExtendedLifetime(gateway) {}
      return findings
    }
    guard case .fault(let fault) = findings[0].result else {
      Issue.record("the result is \(findings[0].result)")
      return
    }
    #expect(fault.reason == .probeError(FaultCode(errno: EPERM)))
    #expect(findings[0].attempts == 0)
    for finding in findings.dropFirst() { #expect(finding.result == .failed(.dnsUnreachable)) }
  }

  @Test(
    "an address that goes away does not leave its socket behind to be asked from",
    .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"), .timeLimit(.minutes(4)))
  func addressChange() async throws {
    let findings = try await withNetworkNamespace { loop, network in
      let gateway = try network.stageGateway()
      let server = try gateway.perform {
        try FakeNameServer(loop, on: "192.0.2.254") { .reply($0.addresses([Self.address])) }
      }
      defer { server.stop() }
      let resolver = Resolver(options: options(server.endpoint, families: [.ipv4]), loop: loop)
      let before = await resolver.resolve(within: .seconds(3), on: loop)
      try network.ip("address del 192.0.2.1/24 dev veth0\naddress add 192.0.2.2/24 dev veth0")
      return [before, await resolver.resolve(within: .seconds(3), on: loop)]
    }
    #expect(findings.map(\.result) == [.resolved, .resolved])
  }

  @Test("a thousand names leave one channel and nothing under way", .timeLimit(.minutes(4)))
  func leavesNothing() async throws {
    let (channels, jobs) = try await withEventLoop { loop in
      let server = try FakeNameServer(loop) { .reply($0.addresses([Self.address])) }
      defer { server.stop() }
      let resolver = Resolver(options: options(server.endpoint, families: [.ipv4]), loop: loop)
      for round in 0..<10 {
        await withTaskGroup(of: Void.self) { group in
          for number in 0..<100 {
            group.addTask(executorPreference: loop) { _ = await resolver.resolve("n\(round)-\(number).test", on: loop) }
          }
        }
      }
      return (resolver.openChannelCount, resolver.jobCount)
    }
    #expect(channels == 1)
    #expect(jobs == 0)
  }

  @Test("no thread is started", .timeLimit(.minutes(4)))
  func noThread() async {
    // In a process of its own, where no other test's threads come and go.
    await #expect(processExitsWith: .success) {
      try await withEventLoop { loop in
        let before = threadCount()
        let server = try FakeNameServer(loop) { query in
          query.isTCP ? .reply(query.addresses([Self.address])) : .reply(query.answer([], flags: Wire.Flags.truncated))
        }
        defer { server.stop() }
        let resolver = Resolver(options: options(server.endpoint), loop: loop)
        let finding = await resolver.resolve(on: loop)
        precondition(finding.result == .resolved && finding.attempts == 4)
        precondition(threadCount() == before)
      }
    }
  }

  @Test(
    "with no descriptor left it is this host's fault, and passes with it",
    .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"), .timeLimit(.minutes(4)))
  func noDescriptors() async throws {
    // The thread has a table of descriptors of its own, which is filled up here.
    let findings = try await withNetworkNamespace(isolatesDescriptors: true) { loop, _ in
      let server = try FakeNameServer(loop) { .reply($0.addresses([Self.address])) }
      defer { server.stop() }
      var filler: [Int32] = []
      while true {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        guard descriptor >= 0 else { break }
        filler.append(descriptor)
      }
      let resolver = Resolver(options: options(server.endpoint), loop: loop)
      let starved = await resolver.resolve(on: loop)
      for descriptor in filler { close(descriptor) }
      return [starved, await resolver.resolve(on: loop)]
    }
    guard case .fault(let fault) = findings[0].result else {
      Issue.record("the result is \(findings[0].result)")
      return
    }
    #expect(fault.reason == .probeError(FaultCode(errno: EMFILE)))
    #expect(findings[1].result == .resolved)
  }
}

/// The threads of this process.
private func threadCount() -> Int {
  guard let directory = unsafe opendir("/proc/self/task") else { return 0 }
  defer { unsafe closedir(directory) }
  var count = 0
  while unsafe readdir(directory) != nil { count += 1 }
  return count
}
