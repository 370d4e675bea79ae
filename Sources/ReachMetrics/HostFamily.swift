/// The families that are not about targets, in the order in which they are shown.
enum HostFamily: Int, CaseIterable {
  case linkUp, linkInfo, linkCarrierChanges, build, plugin, lastReload, lastReloadTime, targets
  case discoveryTargets, discoveryFailures, discoveryTime, scheduleLag
  case roundsSkipped, netlinkMessages, netlinkOverruns, netlinkResyncs, logDropped, stateLost, moduleUnknown, requests,
    eventToStatus
  case cpu, maxDescriptors, openDescriptors, residentBytes, startTime, threads, virtualBytes, maxVirtualBytes

  var family: Family { Self.families[rawValue] }

  private static let families = allCases.map(\.described)

  private var described: Family {
    switch self {
    case .linkUp: Family("reachability_link_up", .gauge, "Whether the interface can be used.")
    case .linkInfo:
      Family(
        "reachability_link_info", .info,
        "The interface's medium and the kernel's word for its state; always 1.")
    case .linkCarrierChanges:
      Family(
        "reachability_link_carrier_changes_total", .counter, "Times the interface's carrier came or went.")
    case .build: Family("reachd_build_info", .info, "The version that runs; always 1.")
    case .plugin: Family("reachd_plugin_info", .info, "The probe backends that are loaded; always 1.")
    case .lastReload:
      Family(
        "reachd_config_last_reload_successful", .gauge,
        "Whether the last attempt to load the configuration succeeded.")
    case .lastReloadTime:
      Family(
        "reachd_config_last_reload_success_timestamp_seconds", .gauge,
        "When the configuration was last loaded, in Unix time.")
    case .targets: Family("reachd_targets", .gauge, "Targets that are watched.")
    case .discoveryTargets:
      Family("reachd_discovery_targets", .gauge, "Targets of a source that are watched.")
    case .discoveryFailures:
      Family("reachd_discovery_failures_total", .counter, "Attempts to have a source's list that failed.")
    case .discoveryTime:
      Family(
        "reachd_discovery_last_success_timestamp_seconds", .gauge,
        "When a source's list was last had, in Unix time.")
    case .scheduleLag: Family("reachd_schedule_lag_seconds", .histogram, "How late rounds start.")
    case .roundsSkipped:
      Family("reachd_rounds_skipped_total", .counter, "Rounds left out since the one before was still going.")
    case .netlinkMessages:
      Family("reachd_netlink_messages_total", .counter, "Messages of the kernel about the network, by type.")
    case .netlinkOverruns:
      Family("reachd_netlink_overruns_total", .counter, "Times messages of the kernel were lost for want of room.")
    case .netlinkResyncs:
      Family("reachd_netlink_resyncs_total", .counter, "Times the kernel's state was read anew after a loss.")
    case .logDropped: Family("reachd_log_dropped_total", .counter, "Log lines that were lost.")
    case .stateLost:
      Family("reachd_state_lost_total", .counter, "Changes of status that could not be kept in state_dir.")
    case .moduleUnknown:
      Family("reachd_module_unknown_total", .counter, "Requests to /probe for a module that there is not.")
    case .requests: Family("reachd_http_requests_total", .counter, "HTTP requests answered, by path and code.")
    case .eventToStatus:
      Family(
        "reachd_event_to_status_seconds", .histogram, "From a kernel event's arrival to the status that followed.")
    case .cpu: Family("process_cpu_seconds_total", .counter, "Total user and system CPU time spent in seconds.")
    case .maxDescriptors: Family("process_max_fds", .gauge, "Maximum number of open file descriptors.")
    case .openDescriptors: Family("process_open_fds", .gauge, "Number of open file descriptors.")
    case .residentBytes: Family("process_resident_memory_bytes", .gauge, "Resident memory size in bytes.")
    case .startTime:
      Family("process_start_time_seconds", .gauge, "Start time of the process since unix epoch in seconds.")
    case .threads: Family("process_threads", .gauge, "Number of OS threads in the process.")
    case .virtualBytes: Family("process_virtual_memory_bytes", .gauge, "Virtual memory size in bytes.")
    case .maxVirtualBytes:
      Family(
        "process_virtual_memory_max_bytes", .gauge, "Maximum amount of virtual memory available in bytes.")
    }
  }
}
