import ReachAgent
import ReachCore
import Testing

@Suite struct TargetViewTests {
  @Test("a target's JSON has every member that the interface names, in its order")
  func everything() {
    let address = IPAddress(ipv4: 0xc633_640a)
    let path = ReachabilityPath(
      interface: "eth0", interfaceIndex: 2, medium: .wired, gateway: IPAddress(ipv4: 0xc000_0201),
      source: IPAddress(ipv4: 0xc000_0207), address: address)
    let verdict = Verdict(
      flags: [], rule: .afnetworking, reason: .tcpRefused, path: path,
      addresses: [AddressVerdict(address: address, state: .unreachable, reason: .tcpRefused)])
    let view = TargetView(
      target: Target(name: "d\"b", kind: .address(address), port: 5432),
      state: TargetState(verdict: verdict, isStale: true, since: 1_767_323_045_678_901_000, sequence: 3),
      runs: [
        TargetView.LastRun(
          run: ProbeRun(probe: "tcp", outcome: .failure(.tcpRefused), duration: .milliseconds(250)), at: 0)
      ])
    var json = JSONWriter()
    view.write(to: &json)
    #expect(
      String(decoding: json.bytes, as: UTF8.self) == #"{"target":"d\"b","kind":"address","status":"NotReachable","#
        + #""flags":"-- -------","flags_value":0,"layer":"tcp","reason":"tcp_refused","stale":true,"#
        + #""since":"2026-01-02T03:04:05.678901Z","path":{"interface":"eth0","medium":"wired","gateway":"192.0.2.1","#
        + #""source":"192.0.2.7","address":"198.51.100.10"},"addresses":[{"address":"198.51.100.10","family":"ipv4","#
        + #""state":"unreachable","reason":"tcp_refused"}],"probes":{"tcp":{"outcome":"failure","reason":"tcp_refused","#
        + #""duration_seconds":0.25,"at":"1970-01-01T00:00:00.000000Z"}}}"#)
  }

  @Test("flags are null while the status is Unknown, and what does not exist is empty")
  func unknown() {
    let view = TargetView(target: Target(name: "a", kind: .defaultPath), state: TargetState(), runs: [])
    var json = JSONWriter()
    view.write(to: &json)
    #expect(
      String(decoding: json.bytes, as: UTF8.self) == #"{"target":"a","kind":"default","status":"Unknown","flags":null,"#
        + #""flags_value":null,"layer":"local","reason":"not_probed","stale":false,"since":null,"path":{"interface":"","#
        + #""medium":"","gateway":"","source":"","address":""},"addresses":[],"probes":{}}"#)
  }
}
