import ReachCore
import ReachTestSupport
import Testing

@testable import ReachNetlink

@Suite struct LinkTableTests {
  @Test("what repeats what is known is no news, and neither is the end of what was not there")
  func tellsNews() {
    var table = LinkTable()
    let news = [
      table.update(LinkAttributes(index: 2, name: "eth0")), table.update(LinkAttributes(index: 2, name: "eth0")),
      table.update(LinkAttributes(index: 2, name: "eth0", flags: 1)), table.remove(index: 2), table.remove(index: 2),
    ]
    #expect(news == [true, false, true, true, false])
    #expect(table.link(named: "eth0") == nil)
  }

  @Test("names that move from one interface to another are followed in any order")
  func followsNames() {
    var table = LinkTable()
    _ = table.update(LinkAttributes(index: 2, name: "eth0"))
    _ = table.update(LinkAttributes(index: 3, name: "eth1"))
    // eth1 becomes eth0 before the message that eth0 has become old0 has been read.
    _ = table.update(LinkAttributes(index: 3, name: "eth0"))
    _ = table.update(LinkAttributes(index: 2, name: "old0"))
    #expect(table.link(named: "eth0")?.index == 3)
    #expect(table.link(named: "old0")?.index == 2)
    #expect(table.link(named: "eth1") == nil)
    _ = table.remove(index: 2)
    #expect(table.link(named: "old0") == nil)
    #expect(table.link(named: "eth0")?.index == 3)
  }

  @Test("alternative names find their interface while it has them")
  func followsAlternativeNames() {
    var table = LinkTable()
    var link = LinkAttributes(index: 2, name: "eth0")
    link.alternativeNames = ["uplink", ""]
    _ = table.update(link)
    #expect(table.link(named: "uplink")?.index == 2)
    #expect(table.link(named: "") == nil)
    link.alternativeNames = []
    _ = table.update(link)
    #expect(table.link(named: "uplink") == nil)
  }

  @Test("reading everything anew leaves nothing of before")
  func replacesAll() {
    var table = LinkTable()
    _ = table.update(LinkAttributes(index: 2, name: "eth0"))
    table.replaceAll(with: [LinkAttributes(index: 5, name: "eth5")])
    #expect(table.links.keys.sorted() == [5])
    #expect(table.link(named: "eth0") == nil)
    #expect(table.link(named: "eth5")?.index == 5)
  }

  @Test("whether a tunnel with a far end is among the interfaces is known")
  func knowsTunnels() {
    var table = LinkTable()
    var tunnel = LinkAttributes(index: 7, name: "t0")
    tunnel.tunnel = LinkAttributes.Tunnel(remote: "198.51.100.2")
    _ = table.update(LinkAttributes(index: 2, name: "eth0"))
    #expect(!table.hasTunnels)
    _ = table.update(tunnel)
    #expect(table.hasTunnels)
    _ = table.remove(index: 7)
    #expect(!table.hasTunnels)
  }
}
