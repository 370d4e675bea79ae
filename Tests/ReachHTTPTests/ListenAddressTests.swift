import ReachCore
import ReachHTTP
import Testing

@Suite struct ListenAddressTests {
  @Test(
    "every form is read and written again",
    arguments: ["127.0.0.1:10120", "[::1]:10120", ":10120", "unix:/run/reachd.sock", "0.0.0.0:0", "[fe80::1%eth0]:80"])
  func reads(text: String) throws {
    #expect(try ListenAddress(parsing: text).description == text)
  }

  @Test("localhost is 127.0.0.1")
  func localhost() throws {
    #expect(
      try ListenAddress(parsing: "localhost:80") == .address(IPAddress(ipv4: 0x7f00_0001), port: 80))
  }

  @Test(
    "what is no address is refused with what to write instead",
    arguments: [
      ("10120", "'10120' has no port: write host:port, [v6]:port, :port or unix:/PATH"),
      ("a:b", "'a:b' has no usable port: write a number from 0 to 65535 behind the last colon"),
      (":65536", "':65536' has no usable port: write a number from 0 to 65535 behind the last colon"),
      ("::1:80", "'::1:80' is ambiguous: an IPv6 address stands in brackets, such as [::1]:10120"),
      ("unix:a", "'unix:a' needs an absolute path, such as unix:/run/reachd/reachd.sock"),
    ])
  func refuses(text: String, message: String) {
    #expect { try ListenAddress(parsing: text) } throws: { "\($0)" == message }
  }
}
