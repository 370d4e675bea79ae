import ReachConfig
import ReachCore
import Testing

@Suite struct DurationParsingTests {
  @Test(
    "durations are read",
    arguments: [
      ("15s", Duration.seconds(15)), ("500ms", .milliseconds(500)), ("1m30s", .seconds(90)), ("2h", .seconds(7200)),
      ("1.5s", .milliseconds(1500)), ("0.25m", .seconds(15)), ("0s", .zero), ("1h1m1s1ms", .milliseconds(3_661_001)),
      ("1.000000001s", .nanoseconds(1_000_000_001)), ("1.0000000019s", .nanoseconds(1_000_000_001)),
    ])
  func read(text: String, expected: Duration) throws {
    #expect(try Duration(parsing: text) == expected)
  }

  @Test(
    "what is no duration is refused",
    arguments: [
      "", "s", "15", "-1s", "1.s", ".5s", "1 s", "1s ", "1S", "1d", "1µs", "1s1", "1:30", ".inf", ".nan", "+1s", "1e3s",
      "９s", "99999999999999999999h", "876601h", "1..5s", "0x10s",
    ])
  func refuse(text: String) {
    #expect(throws: ValueError.self) { try Duration(parsing: text) }
  }
}

@Suite struct HostNameParsingTests {
  @Test(
    "names are read in both forms",
    arguments: [
      ("example.com", "example.com", "example.com"), ("EXAMPLE.com.", "example.com", "example.com"),
      ("bücher.example", "xn--bcher-kva.example", "bücher.example"),
      ("xn--bcher-kva.example", "xn--bcher-kva.example", "bücher.example"),
      ("BÜCHER.example", "xn--bcher-kva.example", "bücher.example"),
      ("faß.example", "xn--fa-hia.example", "faß.example"),
      ("_sip._tcp.bücher.example", "_sip._tcp.xn--bcher-kva.example", "_sip._tcp.bücher.example"),
      ("例え。テスト", "xn--r8jz45g.xn--zckzah", "例え.テスト"),
      ("r3---sn-abc.example", "r3---sn-abc.example", "r3---sn-abc.example"),
      ("1.2.3.4.in-addr.arpa", "1.2.3.4.in-addr.arpa", "1.2.3.4.in-addr.arpa"), ("localhost", "localhost", "localhost"),
    ])
  func read(text: String, query: String, display: String) throws {
    #expect(try HostName(parsing: text) == HostName(query: query, display: display))
  }

  @Test(
    "what is no name is refused",
    arguments: [
      "", ".", "..", "a..b", ".a", "a b", "http://a", "192.0.2.1", "127.1", "0x7f.1", "a/b", "a:b", "-a.example",
      "a-.example",
      "a@b", "a\u{0}b", "a\nb", "xn--.example", "１２７.0.0.1", "*.example.com", "bü cher.example", "\u{200d}.example",
    ])
  func refuse(text: String) {
    #expect(throws: ValueError.self) { try HostName(parsing: text) }
  }

  @Test("a label has at most 63 octets and a name at most 253, a trailing dot apart")
  func lengths() throws {
    let label = String(repeating: "a", count: 63)
    #expect(try HostName(parsing: label).query == label)
    #expect(throws: ValueError.self) { try HostName(parsing: label + "a") }
    let name = "\(label).\(label).\(label).\(String(repeating: "a", count: 61))"
    #expect(try HostName(parsing: name + ".").query == name)
    #expect(throws: ValueError.self) { try HostName(parsing: name + "a") }
  }
}

@Suite struct ListenAddressTests {
  @Test(
    "listening addresses are read and written alike",
    arguments: ["127.0.0.1:10120", "[::1]:80", ":10120", "0.0.0.0:1", "[::]:0", "unix:/run/reachd.sock"])
  func read(text: String) throws {
    #expect(try ListenAddress(parsing: text).description == text)
  }

  @Test("localhost and a star have their addresses")
  func words() throws {
    #expect(try ListenAddress(parsing: "localhost:80").description == "127.0.0.1:80")
    #expect(try ListenAddress(parsing: "*:80") == .tcp(address: nil, port: 80))
  }

  @Test(
    "what cannot be listened at is refused",
    arguments: [
      "", "80", "127.0.0.1", "::1:80", "example.com:80", "127.0.0.1:65536", "127.1:80", "unix:", "unix:a", "unix:/",
      "http://127.0.0.1:80", "[::1]", "[127.0.0.1]:80", "255.255.255.255:80",
    ])
  func refuse(text: String) {
    #expect(throws: ValueError.self) { try ListenAddress(parsing: text) }
  }

  @Test("a socket's path has at most 107 octets")
  func longPath() throws {
    let path = "/" + String(repeating: "a", count: 106)
    #expect(try ListenAddress(parsing: "unix:\(path)") == .unix(path: path))
    #expect(throws: ValueError.self) { try ListenAddress(parsing: "unix:\(path)a") }
  }
}
