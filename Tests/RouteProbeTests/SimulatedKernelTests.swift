import Glibc
import ReachCore
import ReachNetlink
import ReachTestSupport
import Testing

@testable import RouteProbe

/// Answers of kernels that cannot be staged: of other versions, or short of memory. Also how often the kernel is asked.
@Suite struct SimulatedKernelTests {
  @Test(
    "an errno of this host is a fault, not a verdict",
    arguments: [EMFILE, ENFILE, ENOBUFS, ENOMEM, EPERM, EAGAIN, EPROTO])
  func faults(_ code: Int32) {
    let fault = FaultCode(errno: code)
    for answer in [RouteAnswer.fault(fault), .refused(fault)] {
      for address: IPAddress in ["203.0.113.9", "2001:db8::9"] {
        let kernel = SimulatedKernel { _ in answer }
        #expect(kernel.finding(for: address).decision == .fault(fault))
        #expect(kernel.finding(for: address, from: SourceBinding(address: address)).decision == .fault(fault))
      }
    }
  }

  @Test("a kernel without IPv6 has no route in it", arguments: [EAFNOSUPPORT, EOPNOTSUPP])
  func withoutIPv6(_ code: Int32) {
    let kernel = SimulatedKernel { _ in .refused(FaultCode(errno: code)) }
    #expect(kernel.finding(for: "2001:db8::9").decision == .refused(.noRoute))
    #expect(
      kernel.finding(for: "2001:db8::9", from: SourceBinding(interface: "eth0")).decision == .refused(.scopeNoRoute))
  }

  @Test("an interface that vanishes between its lookup and the route's is missing")
  func vanishingDevice() {
    let kernel = SimulatedKernel { _ in .refused(FaultCode(errno: ENODEV)) }
    #expect(
      kernel.finding(for: "203.0.113.9", from: SourceBinding(interface: "eth0")).decision == .refused(.scopeNoDevice))
  }

  @Test("a source that is not this host's is missing; with one that is the errno means the route")
  func sources() {
    let foreign = SimulatedKernel { _ in .fault(FaultCode(errno: EADDRNOTAVAIL)) }
    #expect(
      foreign.finding(for: "203.0.113.9", from: SourceBinding(address: "192.0.2.7")).decision
        == .refused(.localAddressMissing))
    for (code, meant) in [(EINVAL, Reason.routeBlackhole), (ENETUNREACH, .noRoute), (EACCES, .routeProhibit)] {
      for isLocal in [true, false] {
        let kernel = SimulatedKernel { query in
          if query.destination == "2001:db8::7", isLocal { return .route(.to(query, type: RouteType.local)) }
          return .refused(FaultCode(errno: code))
        }
        let decision = kernel.finding(for: "2001:db8::9", from: SourceBinding(address: "2001:db8::7")).decision
        #expect(decision == .refused(isLocal ? meant : .localAddressMissing))
      }
    }
  }

  @Test("where a network's first address is still a broadcast address, it stands for the network all the same")
  func firstAddressOfNetwork() {
    let kernel = SimulatedKernel { query in .route(.to(query, type: RouteType.broadcast, source: "169.254.7.7")) }
    var inquiry = RouteInquiry(kernel, source: SourceBinding(interface: "eth0"))
    inquiry.isLinkLocal = true
    let finding = inquiry.finding(for: "169.254.0.0")
    #expect(finding.decision == .unicast)
    #expect(finding.isOnLink)
    #expect(kernel.finding(for: "192.0.2.0").decision == .refused(.noRoute))
  }

  @Test("an anycast address of this host's networks can be reached and is not local")
  func anycast() {
    let kernel = SimulatedKernel { query in .route(.to(query, type: RouteType.anycast)) }
    #expect(kernel.finding(for: "2001:db8::").decision == .unicast)
  }

  @Test("an address within a VRF is an own one to a target that is bound to the VRF")
  func withinVRF() {
    let kernel = SimulatedKernel { query in
      switch (query.destination, query.outputInterface) {
      case ("2001:db8::7", 3): .route(.to(query, type: RouteType.local, table: 10))
      case (_, 3): .route(.to(query, table: 10))
      default: .refused(FaultCode(errno: ENETUNREACH))
      }
    }
    let bound = SourceBinding(interface: "eth0", address: "2001:db8::7")
    #expect(kernel.finding(for: "2001:db8:1::9", from: bound).decision == .unicast)
    #expect(
      kernel.finding(for: "2001:db8:1::9", from: SourceBinding(address: "2001:db8::7")).decision
        == .refused(.localAddressMissing))
  }

  @Test("the kernel is asked once where one answer tells all")
  func thrift() {
    let counter = SimulatedKernel { query in
      query.destination.isLoopback
        ? .route(.to(query, type: RouteType.local, table: RouteType.localTable))
        : .route(.to(query, source: query.destination.family == .ipv4 ? "192.0.2.1" : nil))
    }
    for (address, count): (IPAddress, Int) in [("203.0.113.9", 1), ("127.0.0.1", 1), ("::1", 1), ("2001:db8::9", 2)] {
      counter.lookups.count = 0
      _ = counter.finding(for: address)
      #expect(counter.lookups.count == count, "\(address)")
    }
    counter.lookups.count = 0
    _ = counter.finding(for: "224.0.0.1")
    _ = counter.finding(for: "203.0.113.9", from: SourceBinding(interface: "nothere"))
    #expect(counter.lookups.count == 0)
  }
}

/// Tables that answer as they are told; `eth0` has the index 3.
struct SimulatedKernel: KernelTables {
  func spreadsConnections(_ family: IPAddress.Family) -> Bool { true }

  final class Lookups { var count = 0 }

  let lookups = Lookups()
  let answer: (RouteQuery) -> RouteAnswer

  init(_ answer: @escaping (RouteQuery) -> RouteAnswer) { self.answer = answer }

  func lookup(_ query: RouteQuery) -> RouteAnswer {
    lookups.count += 1
    return answer(query)
  }

  func interfaceIndex(named name: String) -> Int32? { name == "eth0" ? 3 : nil }
  func isTentative(_ address: IPAddress) -> Bool { false }
  func interfaceName(_ index: Int32) -> String { index == 3 ? "eth0" : "" }
  func hasFailed(neighbour: IPAddress, on interface: Int32, orUnanswered: Bool) -> Bool { false }

  func finding(for address: IPAddress, from source: SourceBinding = SourceBinding()) -> RouteFinding {
    var inquiry = RouteInquiry(self, source: source)
    return inquiry.finding(for: address)
  }
}

extension RouteMessage {
  /// A route that answers the query, over `eth0`.
  static func to(
    _ query: RouteQuery, type: UInt8 = RouteType.unicast, table: UInt32 = 254, source: IPAddress? = nil
  ) -> RouteMessage {
    RouteMessage(
      family: query.destination.family, type: type, prefixLength: query.isFIBMatch ? 24 : 32, table: table,
      destination: query.destination, outputInterface: 3, preferredSource: source)
  }
}
