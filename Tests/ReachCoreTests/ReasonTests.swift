internal import ReachCore
internal import Testing

@Suite struct ReasonTests {
  private static let spellings: [(Layer, String)] = [
    (.config, "bad_target"),
    (.link, "link_down carrier_lost link_lower_down link_dormant interface_missing interface_up"),
    (
      .route,
      "route_ok local_address no_route route_unreachable route_prohibit route_blackhole scope_no_route scope_no_device"
        + " local_address_missing vpn_underlay_down connection_required intervention_required on_traffic on_demand"
        + " captive_portal neigh_failed"
    ),
    (
      .dns,
      "dns_nxdomain dns_nodata dns_timeout dns_servfail dns_refused dns_notimp dns_formerr dns_malformed dns_truncated"
        + " dns_unreachable dns_transient dns_stale"
    ),
    (
      .tcp,
      "tcp_open tcp_refused tcp_timeout tcp_host_unreachable tcp_net_unreachable tcp_admin_prohibited"
    ),
    (.local, "not_probed dns_pending backend_missing backend_overran resolver_config"),
  ]

  @Test("The set of reasons is closed: these spellings, at these layers, and no others")
  func closedSet() {
    var total = 0
    for (layer, words) in Self.spellings {
      let expected = words.split(separator: " ").map(String.init)
      #expect(Reason.fixed.filter { $0.layer == layer }.map(\.description) == expected)
      total += expected.count
    }
    #expect(Reason.fixed.count == total)
    #expect(Set(Reason.fixed).count == total)
  }

  @Test("Every reason can be read back from its spelling", arguments: Reason.fixed)
  func roundTrip(_ reason: Reason) {
    #expect(Reason(spelling: reason.description) == reason)
  }

  @Test("A probe error names its errno and is local")
  func probeErrors() {
    let reason = Reason.probeError(FaultCode(errno: 24))
    #expect(reason.description == "probe_error:EMFILE")
    #expect(reason.layer == .local)
    #expect(Reason(spelling: "probe_error:EMFILE") == reason)
    #expect(Reason(spelling: "probe_error:EAI_MEMORY") == .probeError(.resolverMemory))
  }

  @Test(
    "Anything else is no reason",
    arguments: ["", "tcp", "TCP_OPEN", "tcp_open ", "probe_error", "probe_error:", "probe_error:EWHAT"])
  func unknownSpelling(_ text: String) {
    #expect(Reason(spelling: text) == nil)
  }

  @Test("The layers are spelled as metrics spell them, nearest first")
  func layers() {
    #expect(Layer.allCases.map(\.rawValue) == ["config", "link", "route", "dns", "tcp", "local"])
  }

  @Test("A local fault of an errno carries the reason of that errno")
  func localFault() {
    let fault = LocalFault(errno: 12, detail: "socket(2)")
    #expect(fault.reason.description == "probe_error:ENOMEM")
    #expect(fault.detail == "socket(2)")
  }
}
