import ReachCore
import ReachHTTP
import Testing

@Suite struct ListenAddressTests {
  static let loopback = IPAddress(ipv6High: 0, low: 1)
  static let public4 = IPAddress(ipv4: 0xc000_0201)

  @Test(
    "an address says how it is written, whether only this host gets there, and where a browser finds it",
    arguments: [
      (ListenAddress.address(loopback, port: 80), "[::1]:80", true, "http://[::1]:80/"),
      (.address(public4, port: 8080), "192.0.2.1:8080", false, "http://192.0.2.1:8080/"),
      (.address(IPAddress(ipv4: 0), port: 80), "0.0.0.0:80", false, "http://localhost:80/"),
      (.anyAddress(port: 10120), ":10120", false, "http://localhost:10120/"),
      (.unix(path: "/run/reachd.sock"), "unix:/run/reachd.sock", true, nil),
    ] as [(ListenAddress, String, Bool, String?)])
  func describes(address: ListenAddress, text: String, isLocal: Bool, url: String?) {
    #expect(address.description == text)
    #expect(address.isLocal == isLocal)
    #expect(address.url == url)
  }
}
