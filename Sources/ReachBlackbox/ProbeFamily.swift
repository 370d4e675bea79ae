/// A family of metrics that `/probe` answers with, all of them gauges: names and texts are blackbox_exporter's.
public struct ProbeFamily: Hashable, Sendable {
  /// The family's name.
  public let name: String
  /// What `# HELP` says of it.
  public let help: String

  /// A family.
  public init(_ name: String, help: String) {
    self.name = name
    self.help = help
  }

  static let success = ProbeFamily("probe_success", help: "Displays whether or not the probe was a success")
  static let duration = ProbeFamily(
    "probe_duration_seconds", help: "Returns how long the probe took to complete in seconds")
  static let timeout = ProbeFamily("probe_timeout_seconds", help: "Returns how long the probe timeout is in seconds")
  static let lookupTime = ProbeFamily(
    "probe_dns_lookup_time_seconds", help: "Returns the time taken for probe dns lookup in seconds")
  static let protocolVersion = ProbeFamily(
    "probe_ip_protocol", help: "Specifies whether probe ip protocol is IP4 or IP6")
  static let addressHash = ProbeFamily(
    "probe_ip_addr_hash",
    help: "Specifies the hash of IP address. It's useful to detect if the IP address changes.")
  static let failedDueToRegex = ProbeFamily(
    "probe_failed_due_to_regex", help: "Indicates if probe failed due to regex")
  static let failedDueToBytes = ProbeFamily(
    "probe_failed_due_to_bytes", help: "Indicates if probe failed due to bytes")
  static let expectInfo = ProbeFamily("probe_expect_info", help: "Explicit content matched")
}
