import CReachLinux
import Glibc
import ReachCore
import Testing

@testable import ReachNetlink

@Suite struct MonitorCoreTests {
  private let start = Instant(nanoseconds: 1_000_000_000)

  /// What comes of one batch of messages.
  private func batch(_ core: inout MonitorCore, _ messages: [[UInt8]], at now: Instant? = nil) -> MonitorCore.Step {
    let now = now ?? start
    core.beginBatch(at: now)
    for bytes in messages { core.take(unsafe bytes.span.bytes) }
    return core.finishBatch(at: now)
  }

  private func told(_ step: MonitorCore.Step) -> NetworkChange? {
    if case .tell(let change) = step { change } else { nil }
  }

  private func link(
    _ index: Int32, _ name: String, carrierChanges: UInt32 = 0, isUp: Bool = true
  ) -> LinkAttributes {
    var link = LinkAttributes(index: index, name: name, flags: isUp ? 0x1_1043 : 0x1003, hardwareType: 1)
    link.operState = isUp ? .up : .down
    link.hasCarrier = isUp
    link.carrierChanges = carrierChanges
    return link
  }

  private func new(_ link: LinkAttributes) -> [UInt8] { message(RTM_NEWLINK, linkBody(link)) }
  private func gone(_ link: LinkAttributes) -> [UInt8] { message(RTM_DELLINK, linkBody(link)) }

  // MARK: News

  @Test("an interface that came, changed or went is told with its index, and what repeats what is known is not")
  func tellsLinks() {
    var core = MonitorCore()
    let eth0 = link(2, "eth0")
    #expect(
      batch(&core, [new(eth0)]) == .tell(NetworkChange(kinds: .link, links: [2], receivedAt: start)))
    #expect(batch(&core, [new(eth0), new(eth0)]) == .rest)
    #expect(told(batch(&core, [new(link(2, "eth0", isUp: false)), new(link(3, "eth1"))]))?.links == [2, 3])
    #expect(told(batch(&core, [gone(eth0)])) == NetworkChange(kinds: .link, links: [2], receivedAt: start))
    #expect(batch(&core, [gone(eth0)]) == .rest)
    #expect(core.table.links.keys.sorted() == [3])
  }

  @Test("the bridge's own messages about its port neither change nor remove the interface")
  func ignoresBridge() {
    var core = MonitorCore()
    let port = link(2, "eth0")
    _ = batch(&core, [new(port)])
    var other = port
    other.name = "br0"
    let step = batch(
      &core,
      [
        message(RTM_NEWLINK, linkBody(other, family: UInt8(AF_BRIDGE))),
        message(RTM_DELLINK, linkBody(port, family: UInt8(AF_BRIDGE))),
      ])
    #expect(step == .rest)
    #expect(core.table.links == [2: port])
  }

  @Test("a wireless driver's event, statistics and a message without a name leave the interface as it is")
  func ignoresPartialMessages() {
    var core = MonitorCore()
    let wlan = link(2, "wlan0")
    _ = batch(&core, [new(wlan)])
    let head = Array(linkBody(wlan).prefix(16))
    let step = batch(
      &core,
      [
        message(RTM_NEWLINK, head + attribute(IFLA_IFNAME, text("wlan0")) + attribute(IFLA_WIRELESS, u32(7))),
        message(RTM_NEWLINK, head),
        message(RTM_NEWLINK, linkBody(wlan) + attribute(IFLA_STATS, [UInt8](repeating: 9, count: 96))),
      ])
    #expect(step == .rest)
    #expect(core.table.links == [2: wlan])
  }

  @Test("an address is told once; a renewed lease or a router's advertisement is no news, its flags and its end are")
  func tellsAddresses() {
    var core = MonitorCore()
    func address(_ type: Int = RTM_NEWADDR, flags: UInt32 = 0x80, lifetime: UInt32) -> [UInt8] {
      message(type, addressBody([192, 0, 2, 1], interface: 2, flags: flags, lifetime: lifetime))
    }
    let first = told(batch(&core, [address(lifetime: 600)]))
    #expect(first?.kinds == .address)
    #expect(first?.links == [2])
    #expect(batch(&core, [address(lifetime: 3600), address(lifetime: 7200)]) == .rest)
    #expect(told(batch(&core, [address(flags: 0xa0, lifetime: 7200)]))?.kinds == .address)
    #expect(told(batch(&core, [address(flags: 0x80, lifetime: 7200)]))?.kinds == .address)
    #expect(told(batch(&core, [address(RTM_DELADDR, lifetime: 0)]))?.kinds == .address)
    #expect(told(batch(&core, [address(lifetime: 600)]))?.kinds == .address)
  }

  @Test("an address on an interface that was made again under its index is news")
  func forgetsAddressesOfGoneInterfaces() {
    var core = MonitorCore()
    let address = message(RTM_NEWADDR, addressBody([192, 0, 2, 1], interface: 2))
    _ = batch(&core, [new(link(2, "eth0")), address, gone(link(2, "eth0"))])
    #expect(told(batch(&core, [new(link(2, "eth0")), address]))?.kinds == [.link, .address])
  }

  @Test("more interfaces than can be named are told as unknown")
  func boundsLinks() {
    var core = MonitorCore()
    let most = NetworkChange.mostLinks
    let few = (1...most).map { new(link(Int32($0), "e\($0)")) }
    #expect(told(batch(&core, few))?.links.count == most)
    let many = (1...most + 1).map { new(link(Int32($0), "f\($0)")) }
    let change = told(batch(&core, many))
    #expect(change?.kinds == .link)
    #expect(change?.links == [])
    #expect(told(batch(&core, [new(link(5, "g5"))]))?.links == [5])
  }

  // MARK: Flaps

  @Test("a carrier that goes and comes back within a batch, or within one message, is told as a flap")
  func tellsFlaps() {
    var core = MonitorCore()
    _ = batch(&core, [new(link(2, "eth0", carrierChanges: 1))])
    let down = new(link(2, "eth0", carrierChanges: 2, isUp: false))
    #expect(told(batch(&core, [down, new(link(2, "eth0", carrierChanges: 3))]))?.kinds == [.link, .flap])
    #expect(told(batch(&core, [new(link(2, "eth0", carrierChanges: 5))]))?.kinds == [.link, .flap])
    #expect(told(batch(&core, [new(link(2, "eth0", carrierChanges: 6, isUp: false))]))?.kinds == .link)
    #expect(told(batch(&core, [new(link(2, "eth0", carrierChanges: 7))]))?.kinds == .link)
    #expect(core.counts.flaps == 2)
  }

  @Test("what changes beside the carrier is no flap")
  func otherChangesAreNoFlaps() {
    var core = MonitorCore()
    var eth0 = link(2, "eth0")
    _ = batch(&core, [new(eth0)])
    eth0.mtu = 9000
    #expect(told(batch(&core, [new(eth0)]))?.kinds == .link)
    #expect(core.counts.flaps == 0)
  }

  // MARK: Names

  @Test("names follow the messages: renamed, exchanged, alternative, with dots, and made again under a new index")
  func followsNames() {
    var core = MonitorCore()
    _ = batch(&core, [new(link(2, "eth0")), new(link(3, "eth1"))])
    _ = batch(&core, [new(link(2, "tmp")), new(link(3, "eth0")), new(link(2, "eth1"))])
    #expect(core.table.link(named: "eth0")?.index == 3)
    #expect(core.table.link(named: "eth1")?.index == 2)
    #expect(core.table.link(named: "tmp") == nil)
    var vlan = link(4, "eth0.100")
    vlan.alternativeNames = ["enp3s0f0np0.100-a-name-longer-than-fifteen"]
    _ = batch(&core, [new(vlan)])
    #expect(core.table.link(named: "eth0.100")?.index == 4)
    #expect(core.table.link(named: "enp3s0f0np0.100-a-name-longer-than-fifteen")?.index == 4)
    // What ip(8) shows behind the name is no part of it.
    #expect(core.table.link(named: "eth0.100@eth0") == nil)
    _ = batch(&core, [gone(link(3, "eth0")), new(link(9, "eth0"))])
    #expect(core.table.link(named: "eth0")?.index == 9)
    #expect(core.table.links[3] == nil)
  }

  @Test("an interface that moves to another namespace is gone, and is another one when it comes back")
  func followsNamespaces() {
    var core = MonitorCore()
    let eth0 = link(2, "eth0")
    _ = batch(&core, [new(eth0)])
    let leaving = linkBody(eth0) + attribute(IFLA_NEW_NETNSID, u32(1)) + attribute(IFLA_NEW_IFINDEX, u32(2))
    #expect(told(batch(&core, [message(RTM_DELLINK, leaving)]))?.kinds == .link)
    #expect(core.table.link(named: "eth0") == nil)
    #expect(told(batch(&core, [new(link(7, "eth0"))]))?.links == [7])
    #expect(core.table.link(named: "eth0")?.index == 7)
  }

  @Test("what an interface is gets asked once for each interface, name and hardware address")
  func asksForTypesOnce() {
    let names = Names()
    var core = MonitorCore { link in
      names.note(link.name)
      return .wlan
    }
    _ = batch(&core, [new(link(2, "wlan0")), new(link(2, "wlan0", isUp: false))])
    _ = core.take(LinkDump(links: [link(2, "wlan0")]), from: start, to: start)
    #expect(names.all == ["wlan0"])
    _ = batch(&core, [new(link(2, "wlan1"))])
    #expect(names.all == ["wlan0", "wlan1"])
    #expect(core.table.links[2]?.deviceType == .wlan)
  }
}
