/// The layer at which something was seen or broke. Nearer layers come first.
public enum Layer: String, Hashable, Sendable, CaseIterable {
  /// The configuration asked for something that cannot be.
  case config
  /// The interface.
  case link
  /// The kernel's routing decision.
  case route
  /// Name resolution.
  case dns
  /// The connection.
  case tcp
  /// This host's own trouble, or nothing observed yet.
  case local
}

/// Why a status is what it is. A closed set; the spelling is final.
public enum Reason: Hashable, Sendable, CustomStringConvertible {
  /// config: the target cannot be probed at all.
  case badTarget
  /// link: set down by an administrator.
  case linkDown
  /// link: no carrier.
  case carrierLost
  /// link: an interface it rests on is down.
  case linkLowerDown
  /// link: waiting for an event, such as authentication.
  case linkDormant
  /// link: no such interface.
  case interfaceMissing
  /// link: the interface that is the target is usable.
  case interfaceUp
  /// route: the kernel would send, over a usable link, and nothing more was asked.
  case routeOK
  /// route: an address of this host.
  case localAddress
  /// route: none.
  case noRoute
  /// route: an `unreachable` route.
  case routeUnreachable
  /// route: a `prohibit` route or rule.
  case routeProhibit
  /// route: a `blackhole` route.
  case routeBlackhole
  /// route: none over the interface that was asked for.
  case scopeNoRoute
  /// route: the interface that was asked for does not exist.
  case scopeNoDevice
  /// route: the local half of a pair is no address of this host.
  case localAddressMissing
  /// route: the tunnel's own path is broken.
  case vpnUnderlayDown
  /// route: a connection must be brought up first.
  case connectionRequired
  /// route: and a person must act for it.
  case interventionRequired
  /// route: traffic brings it up.
  case onTraffic
  /// route: this name brings it up.
  case onDemand
  /// route: a captive portal answers for everything.
  case captivePortal
  /// route: the neighbour does not answer ARP or neighbour discovery.
  case neighbourFailed
  /// dns: the name does not exist.
  case dnsNXDomain
  /// dns: the name has no address of the wanted families.
  case dnsNoData
  /// dns: no answer in time.
  case dnsTimeout
  /// dns: the server failed.
  case dnsServFail
  /// dns: the server refused.
  case dnsRefused
  /// dns: the server does not implement the query.
  case dnsNotImp
  /// dns: the server did not understand the query.
  case dnsFormErr
  /// dns: the answer cannot be understood.
  case dnsMalformed
  /// dns: the answer was cut and could not be had whole.
  case dnsTruncated
  /// dns: the resolver cannot be reached, or its port is closed.
  case dnsUnreachable
  /// dns: failed for now, no more is known.
  case dnsTransient
  /// dns: an answer past its time is used since the resolver failed.
  case dnsStale
  /// tcp: connected.
  case tcpOpen
  /// tcp: refused.
  case tcpRefused
  /// tcp: no answer in time.
  case tcpTimeout
  /// tcp: a router or the neighbour layer said the host cannot be reached.
  case tcpHostUnreachable
  /// tcp: a router said the network cannot be reached.
  case tcpNetUnreachable
  /// tcp: a firewall said it is prohibited.
  case tcpAdminProhibited
  /// local: nothing has been observed yet.
  case notProbed
  /// local: the first resolution is under way.
  case dnsPending
  /// local: this host could not do its part.
  case probeError(FaultCode)
  /// local: a backend the target asks for is not loaded.
  case backendMissing
  /// local: a backend did not keep to its deadline.
  case backendOverran
  /// local: no usable resolver is configured.
  case resolverConfig

  /// The layer it belongs to.
  public var layer: Layer { spelled.layer }

  /// The final spelling, such as `carrier_lost` or `probe_error:EMFILE`.
  public var description: String {
    if case .probeError(let code) = self { return "probe_error:" + code.name }
    return spelled.text
  }

  /// The reason with this spelling, or nil.
  public init?(spelling: String) {
    if spelling.hasPrefix("probe_error:") {
      guard let code = FaultCode(name: String(spelling.dropFirst("probe_error:".count))) else { return nil }
      self = .probeError(code)
    } else if let reason = Self.fixed.first(where: { $0.spelled.text == spelling }) {
      self = reason
    } else {
      return nil
    }
  }

  /// Every reason but the probe errors.
  public static let fixed: [Reason] = [
    .badTarget, .linkDown, .carrierLost, .linkLowerDown, .linkDormant, .interfaceMissing, .interfaceUp, .routeOK,
    .localAddress, .noRoute, .routeUnreachable, .routeProhibit, .routeBlackhole, .scopeNoRoute, .scopeNoDevice,
    .localAddressMissing, .vpnUnderlayDown, .connectionRequired, .interventionRequired, .onTraffic, .onDemand,
    .captivePortal, .neighbourFailed, .dnsNXDomain, .dnsNoData, .dnsTimeout, .dnsServFail, .dnsRefused, .dnsNotImp,
    .dnsFormErr, .dnsMalformed, .dnsTruncated, .dnsUnreachable, .dnsTransient, .dnsStale, .tcpOpen, .tcpRefused,
    .tcpTimeout, .tcpHostUnreachable, .tcpNetUnreachable, .tcpAdminProhibited, .notProbed, .dnsPending,
    .backendMissing, .backendOverran, .resolverConfig,
  ]

  private var spelled: (layer: Layer, text: String) {
    switch self {
    case .badTarget: (.config, "bad_target")
    case .linkDown: (.link, "link_down")
    case .carrierLost: (.link, "carrier_lost")
    case .linkLowerDown: (.link, "link_lower_down")
    case .linkDormant: (.link, "link_dormant")
    case .interfaceMissing: (.link, "interface_missing")
    case .interfaceUp: (.link, "interface_up")
    case .routeOK: (.route, "route_ok")
    case .localAddress: (.route, "local_address")
    case .noRoute: (.route, "no_route")
    case .routeUnreachable: (.route, "route_unreachable")
    case .routeProhibit: (.route, "route_prohibit")
    case .routeBlackhole: (.route, "route_blackhole")
    case .scopeNoRoute: (.route, "scope_no_route")
    case .scopeNoDevice: (.route, "scope_no_device")
    case .localAddressMissing: (.route, "local_address_missing")
    case .vpnUnderlayDown: (.route, "vpn_underlay_down")
    case .connectionRequired: (.route, "connection_required")
    case .interventionRequired: (.route, "intervention_required")
    case .onTraffic: (.route, "on_traffic")
    case .onDemand: (.route, "on_demand")
    case .captivePortal: (.route, "captive_portal")
    case .neighbourFailed: (.route, "neigh_failed")
    case .dnsNXDomain: (.dns, "dns_nxdomain")
    case .dnsNoData: (.dns, "dns_nodata")
    case .dnsTimeout: (.dns, "dns_timeout")
    case .dnsServFail: (.dns, "dns_servfail")
    case .dnsRefused: (.dns, "dns_refused")
    case .dnsNotImp: (.dns, "dns_notimp")
    case .dnsFormErr: (.dns, "dns_formerr")
    case .dnsMalformed: (.dns, "dns_malformed")
    case .dnsTruncated: (.dns, "dns_truncated")
    case .dnsUnreachable: (.dns, "dns_unreachable")
    case .dnsTransient: (.dns, "dns_transient")
    case .dnsStale: (.dns, "dns_stale")
    case .tcpOpen: (.tcp, "tcp_open")
    case .tcpRefused: (.tcp, "tcp_refused")
    case .tcpTimeout: (.tcp, "tcp_timeout")
    case .tcpHostUnreachable: (.tcp, "tcp_host_unreachable")
    case .tcpNetUnreachable: (.tcp, "tcp_net_unreachable")
    case .tcpAdminProhibited: (.tcp, "tcp_admin_prohibited")
    case .notProbed: (.local, "not_probed")
    case .dnsPending: (.local, "dns_pending")
    case .probeError: (.local, "probe_error")
    case .backendMissing: (.local, "backend_missing")
    case .backendOverran: (.local, "backend_overran")
    case .resolverConfig: (.local, "resolver_config")
    }
  }
}

/// A fault of this host that kept a probe from observing anything: it makes a target's status Unknown, never down.
public struct LocalFault: Error, Hashable, Sendable {
  /// What the target's reason becomes: one of the `local` layer.
  public let reason: Reason
  /// For people: what was being done, or which setting cannot be had; empty when the reason says it all.
  public let detail: String
  /// For people: what would mend it; empty when that is not known.
  public let remedy: String

  /// A fault with a reason of the local layer.
  public init(_ reason: Reason, detail: String = "", remedy: String = "") {
    self.reason = reason
    self.detail = detail
    self.remedy = remedy
  }

  /// The fault of an errno, met while doing what `detail` says.
  public init(errno number: Int32, detail: String = "", remedy: String = "") {
    self.init(.probeError(FaultCode(errno: number)), detail: detail, remedy: remedy)
  }
}
