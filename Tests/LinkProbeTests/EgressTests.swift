import ReachCore
import ReachTestSupport
import Testing

@testable import LinkProbe

@Suite struct EgressTests {
  private let links: [Int32: LinkFinding] = [
    1: LinkFinding(interface: "lo", index: 1, medium: .loopback, state: .usable),
    2: LinkFinding(interface: "eth0", index: 2, medium: .wired, state: .usable),
    3: LinkFinding(interface: "eth1", index: 3, medium: .wired, state: .noCarrier),
    4: LinkFinding(interface: "eth2", index: 4, medium: .wired, state: .down),
    5: LinkFinding(interface: "eth3", index: 5, medium: .wired, state: .dormant),
    6: LinkFinding(interface: "wg0", index: 6, medium: .vpn, state: .usable, underlay: .down),
    7: LinkFinding(interface: "eth4", index: 7, medium: .wired, state: .down),
  ]

  private func legs(_ indices: Int32..., dead: Set<Int32> = []) -> RouteFinding {
    RouteFinding(
      .unicast, interfaceIndex: indices[0], interface: "eth0",
      legs: indices.map {
        RouteFinding.Leg(interfaceIndex: $0, gateway: "192.0.2.254", weight: 1, isDead: dead.contains($0))
      })
  }

  private func chosen(_ route: RouteFinding) -> LinkFinding? { Egress(of: route).finding { links[$0] } }

  @Test("a route with one next hop leaves by its interface, a local one by the loopback")
  func findsOne() {
    #expect(chosen(RouteFinding(.unicast, interfaceIndex: 3, interface: "eth1")) == links[3])
    #expect(chosen(RouteFinding(.local, interfaceIndex: 1, interface: "lo")) == links[1])
  }

  @Test("a destination without a route leaves by nothing, whatever interface is named")
  func findsNone() {
    #expect(chosen(RouteFinding(.refused(.noRoute), interfaceIndex: 2)) == nil)
    #expect(chosen(RouteFinding(.fault(.interrupted), interfaceIndex: 2)) == nil)
    #expect(chosen(RouteFinding(.unicast)) == nil)
  }

  @Test("of several legs the worst that is still chosen speaks, the first of equals")
  func findsWorst() {
    #expect(chosen(legs(2, 3)) == links[3])
    #expect(chosen(legs(3, 2)) == links[3])
    #expect(chosen(legs(2, 5)) == links[5])
    #expect(chosen(legs(2, 6)) == links[6])
    #expect(chosen(legs(2, 2)) == links[2])
  }

  @Test("a leg that the kernel does not choose does not speak, unless there is no other")
  func leavesOutDead() {
    #expect(chosen(legs(2, 3, dead: [3])) == links[2])
    #expect(chosen(legs(2, 4)) == links[2])
    #expect(chosen(legs(4, 3)) == links[3])
    #expect(chosen(legs(4, 7)) == links[4])
    #expect(chosen(legs(3, 4, dead: [3, 4])) == links[3])
  }

  @Test("an interface that has gone since the lookup is missing")
  func findsGone() {
    let gone = chosen(RouteFinding(.unicast, interfaceIndex: 99, interface: "eth9"))
    #expect(gone == LinkFinding(interface: "eth9", index: 99, medium: .other, state: .missing))
  }
}
