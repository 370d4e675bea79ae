import ReachCore
import Testing

@testable import ReachAgent

@Suite struct StatusPageTests {
  private func page(_ targets: [TargetView]) -> String {
    String(decoding: StatusPage(version: "1.2.3", targets: targets).bytes, as: UTF8.self)
  }

  @Test("a target has a row with status, flags, reason and path")
  func row() {
    let path = ReachabilityPath(
      interface: "eth0", interfaceIndex: 2, medium: .wired, gateway: IPAddress(ipv4: 0xc000_0201))
    let view = TargetView(
      target: Target(name: "db", kind: .defaultPath),
      state: TargetState(verdict: Verdict(flags: [.reachable], rule: .afnetworking, reason: .routeOK, path: path)),
      runs: [])
    let text = page([view])
    for part in ["db", "ReachableViaWiFi", "-R -------", "route_ok", "eth0 via 192.0.2.1", "1 of 1 reachable"] {
      #expect(text.contains(part))
    }
  }

  @Test("a target's name cannot put markup into the page")
  func hostileName() {
    let view = TargetView(
      target: Target(name: "<script>alert('x')</script>&\"", kind: .defaultPath), state: TargetState(), runs: [])
    let text = page([view])
    #expect(!text.contains("<script>"))
    #expect(text.contains("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&quot;"))
  }

  @Test("without targets the page says so")
  func empty() {
    #expect(page([]).contains("No targets are configured."))
  }
}
