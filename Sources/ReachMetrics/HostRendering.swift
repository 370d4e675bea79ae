internal import ReachCore

/// Writes the families that are not about targets: those of the host, the agent and the process.
///
/// They are few and small, so they are written in one piece.
struct HostRendering {
  private var bytes: [UInt8]

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Appends all of them, in the order of the reference.
  static func append(
    links: [LinkSample], agent: AgentSeries, process: ProcessSample?, targets: Int, to bytes: inout [UInt8]
  ) {
    var rendering = HostRendering(bytes)
    bytes = []
    rendering.write(links)
    rendering.write(agent, targets: targets)
    if let process { rendering.write(process) }
    bytes = rendering.bytes
  }

  private mutating func write(_ links: [LinkSample]) {
    let links = links.sorted { $0.interface < $1.interface }
    family("reachability_link_up", .gauge, "Whether the interface can be used.", links) {
      ([("interface", $0.interface)], $0.isUp ? 1 : 0)
    }
    family(
      "reachability_link_info", .gauge, "The interface's medium and the kernel's word for its state; always 1.", links
    ) {
      ([("interface", $0.interface), ("medium", $0.medium.rawValue), ("operstate", $0.operState.word)], 1)
    }
    family(
      "reachability_link_carrier_changes_total", .counter, "Times the interface's carrier came or went.",
      links.filter { $0.carrierChanges != nil }
    ) { ([("interface", $0.interface)], UInt64($0.carrierChanges ?? 0)) }
  }

  private mutating func write(_ agent: AgentSeries, targets: Int) {
    family("reachd_build_info", .gauge, "The version that runs; always 1.", [agent]) {
      ([("version", $0.version), ("revision", $0.revision), ("swift", $0.swiftVersion)], 1)
    }
    family(
      "reachd_plugin_info", .gauge, "The probe backends that are loaded; always 1.",
      agent.plugins.sorted { $0.plugin < $1.plugin }
    ) { ([("plugin", $0.plugin), ("version", $0.version)], 1) }
    if let isSuccessful = agent.isLastReloadSuccessful {
      single(
        "reachd_config_last_reload_successful", .gauge, "Whether the last attempt to load the configuration succeeded.",
        isSuccessful ? 1 : 0)
    }
    if let success = agent.lastReloadSuccess {
      seconds(
        "reachd_config_last_reload_success_timestamp_seconds", .gauge,
        "When the configuration was last loaded, in Unix time.", success)
    }
    single("reachd_targets", .gauge, "Targets that are watched.", UInt64(targets))
    histogram("reachd_schedule_lag_seconds", "How late rounds start.", agent.scheduleLag)
    single(
      "reachd_rounds_skipped_total", .counter, "Rounds left out since the one before was still going.",
      agent.roundsSkipped)
    family(
      "reachd_netlink_messages_total", .counter, "Messages of the kernel about the network, by type.",
      agent.netlinkMessages
    ) { ([("type", $0.type)], $0.count) }
    single(
      "reachd_netlink_overruns_total", .counter, "Times messages of the kernel were lost for want of room.",
      agent.netlinkOverruns)
    single(
      "reachd_netlink_resyncs_total", .counter, "Times the kernel's state was read anew after a loss.",
      agent.netlinkResyncs)
    single("reachd_log_dropped_total", .counter, "Log lines that were lost.", agent.logDropped)
    if let lost = agent.stateLost {
      single(
        "reachd_state_lost_total", .counter, "Changes of status that could not be kept in state_dir.", lost)
    }
    family("reachd_http_requests_total", .counter, "HTTP requests answered, by path and code.", agent.requests) {
      ([("path", $0.path), ("code", String($0.code))], $0.count)
    }
    histogram(
      "reachd_event_to_status_seconds", "From a kernel event's arrival to the status that followed.",
      agent.eventToStatus)
  }

  private mutating func write(_ process: ProcessSample) {
    if let value = process.cpu {
      seconds("process_cpu_seconds_total", .counter, "Total user and system CPU time spent in seconds.", value)
    }
    if let value = process.maxDescriptors {
      single("process_max_fds", .gauge, "Maximum number of open file descriptors.", value)
    }
    if let value = process.openDescriptors {
      single("process_open_fds", .gauge, "Number of open file descriptors.", value)
    }
    if let value = process.residentBytes {
      single("process_resident_memory_bytes", .gauge, "Resident memory size in bytes.", value)
    }
    if let value = process.startTime {
      seconds("process_start_time_seconds", .gauge, "Start time of the process since unix epoch in seconds.", value)
    }
    if let value = process.threads { single("process_threads", .gauge, "Number of OS threads in the process.", value) }
    if let value = process.virtualBytes {
      single("process_virtual_memory_bytes", .gauge, "Virtual memory size in bytes.", value)
    }
    if let value = process.maxVirtualBytes {
      single(
        "process_virtual_memory_max_bytes", .gauge, "Maximum amount of virtual memory available in bytes.", value)
    }
  }

  // MARK: Pieces

  private mutating func family<Item>(
    _ name: String, _ kind: Family.Kind, _ help: String, _ items: [Item],
    _ series: (Item) -> (labels: [(String, String)], value: UInt64)
  ) {
    guard !items.isEmpty else { return }
    let family = Family(name, kind, help)
    bytes.append(contentsOf: family.header)
    for item in items {
      let (labels, value) = series(item)
      bytes.append(contentsOf: family.opening)
      for (index, label) in labels.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        LabelText.append(label.0, label.1, to: &bytes)
      }
      bytes.append(contentsOf: "} ".utf8)
      bytes.append(decimal: value)
      bytes.append(UInt8(ascii: "\n"))
    }
  }

  private mutating func single(_ name: String, _ kind: Family.Kind, _ help: String, _ value: UInt64) {
    bytes.append(contentsOf: Family(name, kind, help).header)
    bytes.append(contentsOf: "\(name) \(value)\n".utf8)
  }

  private mutating func seconds(_ name: String, _ kind: Family.Kind, _ help: String, _ nanoseconds: Int64) {
    bytes.append(contentsOf: Family(name, kind, help).header)
    bytes.append(contentsOf: "\(name) ".utf8)
    bytes.append(seconds: nanoseconds)
    bytes.append(UInt8(ascii: "\n"))
  }

  private mutating func histogram(_ name: String, _ help: String, _ histogram: Histogram) {
    bytes.append(contentsOf: Family(name, .histogram, help).header)
    histogram.render(name, labels: [], into: &bytes)
  }
}
