/// The families about targets, in the order in which they are shown.
enum TargetFamily: Int, CaseIterable {
  case status, flags, flag, reason, path, transitions, statusTimestamp, statusSeconds, stale, probeSuccess, probeRuns
  case probeDuration, probeFailures, addresses, tcpRTT, dnsTTL, addressChanges, pathChanges, rawChanges, flapping
  case cause

  var family: Family { Self.families[rawValue] }

  /// Whether it is shown at the compact detail.
  var isCompact: Bool {
    switch self {
    case .status, .flags, .reason, .transitions, .probeSuccess: true
    default: false
    }
  }

  private static let families = allCases.map(\.described)

  private var described: Family {
    switch self {
    case .status: Family("reachability_status", .gauge, "1 for the target's current status, 0 for the others.")
    case .flags:
      Family(
        "reachability_flags", .gauge,
        "SCNetworkReachabilityFlags of the target as a number; absent while the status is Unknown.")
    case .flag:
      Family(
        "reachability_flag", .gauge,
        "Whether each SCNetworkReachability flag is set; absent while the status is Unknown.")
    case .reason:
      Family("reachability_reason_info", .info, "Why the status is what it is, and the layer that decided; always 1.")
    case .path: Family("reachability_path_info", .info, "The path and address that decided the status; always 1.")
    case .transitions:
      Family(
        "reachability_transitions_total", .counter,
        "Changes of status into this one; the first status after start is none.")
    case .statusTimestamp:
      Family("reachability_status_timestamp_seconds", .gauge, "When the current status began, in Unix time.")
    case .statusSeconds: Family("reachability_status_seconds_total", .counter, "Time spent in each status.")
    case .stale: Family("reachability_stale", .gauge, "1 while the status is held without fresh evidence.")
    case .probeSuccess:
      Family(
        "reachability_probe_success", .gauge,
        "Whether the last finished run succeeded; absent before one and after a fault of this host.")
    case .probeRuns:
      Family(
        "reachability_probe_runs_total", .counter,
        "Runs by outcome: success, failure, error (a fault of this host), skipped.")
    case .probeDuration: Family("reachability_probe_duration_seconds", .histogram, "How long finished runs took.")
    case .probeFailures:
      Family("reachability_probe_failures_total", .counter, "Runs that failed or met a fault of this host, by reason.")
    case .addresses:
      Family("reachability_addresses", .gauge, "Addresses the name resolved to, by family and state.")
    case .tcpRTT:
      Family(
        "reachability_tcp_rtt_seconds", .gauge, "The kernel's round-trip estimate of the last open connection.")
    case .dnsTTL: Family("reachability_dns_ttl_seconds", .gauge, "The smallest TTL of the last answer.")
    case .addressChanges:
      Family("reachability_address_changes_total", .counter, "Times the set of resolved addresses changed.")
    case .pathChanges: Family("reachability_path_changes_total", .counter, "Times the egress interface changed.")
    case .rawChanges:
      Family(
        "reachability_raw_changes_total", .counter,
        "Times fresh evidence told of another status than the evidence before, before any damping.")
    case .flapping:
      Family(
        "reachability_flapping", .gauge,
        "1 while damping (fall, rise, hold) holds a status that the newest evidence contradicts.")
    case .cause:
      Family(
        "reachability_cause_info", .info,
        "The cause, shared with other targets, for which the target is NotReachable; always 1.")
    }
  }
}
