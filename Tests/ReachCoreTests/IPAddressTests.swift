import Glibc
import ReachCore
import Testing

@Suite struct IPAddressTests {
  // MARK: IPv4

  @Test(
    "a dotted quad is read and written alike", arguments: ["0.0.0.0", "127.0.0.1", "192.0.2.10", "255.255.255.255"])
  func ipv4(text: String) throws {
    let address = try IPAddress(parsing: text)
    #expect(address.family == .ipv4)
    #expect(address.description == text)
    #expect(IPAddress(octets: address.octets) == address)
    #expect(address.octets.count == 4)
  }

  @Test(
    "what only looks like a dotted quad is refused",
    arguments: [
      "", ".", "1", "127.1", "1.2.3", "1.2.3.4.5", "1.2.3.4.", ".1.2.3.4", "1..2.3", "2130706433", "0x7f.1",
      "0x7f.0.0.1", "010.0.0.1", "1.2.3.04", "00.0.0.0", "256.1.1.1", "1.2.3.999", "1.2.3.1000", "-1.2.3.4",
      "+1.2.3.4", " 1.2.3.4", "1.2.3.4 ", "1.2.3.4\n", "1.2.3.4\u{0}", "1.2.3.a", "١.2.3.4", "１.2.3.4", "1.2.3.4/24",
      "1.2.3.4:80", "1.2.3.4%eth0",
    ])
  func notIPv4(text: String) {
    #expect(throws: IPAddressError.self) { try IPAddress(parsing: text) }
  }

  // MARK: IPv6

  @Test(
    "IPv6 is written as RFC 5952 says",
    arguments: [
      ("::", "::"), ("::1", "::1"), ("1::", "1::"), ("2001:DB8::1", "2001:db8::1"),
      ("2001:0db8:0000:0000:0000:0000:0000:0001", "2001:db8::1"),
      ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"), ("2001:db8::1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),
      ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"), ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
      ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"), ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
      ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"), ("0:0:0:0:0:0:0:0", "::"), ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"),
      ("1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"), ("fe80::1%eth0", "fe80::1%eth0"), ("FE80::1%3", "fe80::1%3"),
      ("ff02::1%lo", "ff02::1%lo"),
    ])
  func ipv6(text: String, expected: String) throws {
    let address = try IPAddress(parsing: text)
    #expect(address.family == .ipv6)
    #expect(address.description == expected)
    #expect(try IPAddress(parsing: expected) == address)
    #expect(IPAddress(octets: address.octets, zone: address.zone) == address)
    #expect(address.octets.count == 16)
  }

  @Test(
    "what only looks like IPv6 is refused",
    arguments: [
      ":", ":::", "1:", ":1", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8",
      "1::2::3", "::1::", "1:::2", "12345::", "g::1", "::1 ", " ::1", "[::1]", "::1.2.3", "::1.2.3.4.5", "::1.2.3.04",
      "::1.2.3.256", "1.2.3.4::", "::1.2.3.4:1", "1:2:3:4:5:6:7:1.2.3.4", "::-1", "::+1", "::0x1", "fe80::1%",
      "fe80::1%a b", "fe80::1%a/b", "fe80::1%averyverylongname", "2001:db8::1%eth0", "::1%lo", "::ffff:1.2.3.4%eth0",
      "fe80%eth0::1", "%eth0", "::１",
    ])
  func notIPv6(text: String) {
    #expect(throws: IPAddressError.self) { try IPAddress(parsing: text) }
  }

  @Test("a mapped address is the IPv4 address, however it comes in")
  func mapped() throws {
    let plain = try IPAddress(parsing: "192.0.2.1")
    #expect(try IPAddress(parsing: "::ffff:192.0.2.1") == plain)
    #expect(try IPAddress(parsing: "::FFFF:c000:201") == plain)
    #expect(IPAddress(ipv6High: 0, low: 0xffff_c000_0201) == plain)
    #expect(IPAddress(octets: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1]) == plain)
    #expect(try IPAddress(parsing: "::192.0.2.1").family == .ipv6, "a compatible address is none")
  }

  @Test("octets of another number than 4 and 16 are no address", arguments: [0, 1, 3, 5, 15, 17, 1000])
  func octets(count: Int) {
    #expect(IPAddress(octets: [UInt8](repeating: 1, count: count)) == nil)
  }

  @Test("an error quotes what was written on one line and in short")
  func quoting() {
    let long = #expect(throws: IPAddressError.self) { try IPAddress(parsing: String(repeating: "1.", count: 100_000)) }
    #expect((long?.description.utf8.count ?? .max) < 200)
    let lines = #expect(throws: IPAddressError.self) { try IPAddress(parsing: "1.2.3\n4\u{1b}[2J") }
    #expect(lines?.description.unicodeScalars.allSatisfy { $0.value >= 0x20 } == true)
  }

  // MARK: Kinds

  @Test("the kinds of addresses are told apart")
  func kinds() throws {
    func all(_ texts: [String], _ kind: KeyPath<IPAddress, Bool>) throws -> [String] {
      try texts.filter { try IPAddress(parsing: $0)[keyPath: kind] }
    }
    let texts = [
      "0.0.0.0", "::", "127.0.0.1", "127.255.255.255", "::1", "224.0.0.1", "239.255.255.255", "ff00::", "ff02::1",
      "255.255.255.255", "169.254.0.1", "fe80::1", "febf::1", "128.0.0.1", "126.0.0.1", "240.0.0.1", "169.253.0.1",
      "fec0::1", "fe7f::1", "2001:db8::1", "192.0.2.1",
    ]
    #expect(try all(texts, \.isUnspecified) == ["0.0.0.0", "::"])
    #expect(try all(texts, \.isLoopback) == ["127.0.0.1", "127.255.255.255", "::1"])
    #expect(try all(texts, \.isMulticast) == ["224.0.0.1", "239.255.255.255", "ff00::", "ff02::1"])
    #expect(try all(texts, \.isBroadcast) == ["255.255.255.255"])
    #expect(try all(texts, \.isLinkLocal) == ["169.254.0.1", "fe80::1", "febf::1"])
  }

  @Test("a text that can only be meant as an address is known by its last label")
  func numeric() {
    let numeric = ["127.1", "2130706433", "0x7f.1", "1.2.3.4.", "a.1", "0x", "1.0X7F", "::1", "a:b", "256.1.1.1"]
    #expect(numeric.allSatisfy { IPAddress.looksNumeric($0) })
    let names = ["", ".", "a", "a.b", "1a", "1.2.3.4.in-addr.arpa", "0xg", "x0", "a.0x1g", "1-1", "１"]
    #expect(!names.contains { IPAddress.looksNumeric($0) })
  }

  @Test("only IPv6 has a zone")
  func zones() throws {
    #expect(try IPAddress(parsing: "192.0.2.1").scoped(to: "eth0").zone == nil)
    let scoped = try IPAddress(parsing: "fe80::1").scoped(to: "eth0")
    #expect(scoped.description == "fe80::1%eth0")
    #expect(scoped != (try IPAddress(parsing: "fe80::1")))
    #expect(scoped.scoped(to: nil).description == "fe80::1")
  }
}
