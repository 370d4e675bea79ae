internal import ReachCore

/// What came of asking a name server: the verdict, and what is measured.
struct DNSQueryOutcome: Hashable, Sendable {
  /// Whether the answer is as the module wants it.
  var succeeded = false
  /// Whether there was an answer, be it as wanted or not.
  var hasAnswer = false
  /// All the time that `request` does not hold.
  var connect = Duration.zero
  /// From the query to its answer.
  var request = Duration.zero
  /// How many records the answer section has.
  var answers = 0
  /// How many records the authority section has.
  var authorities = 0
  /// How many records the additional section has, an OPT record included.
  var additionals = 0
  /// The serial number of the zone, 0 when the answer holds none; nil unless it was asked for, or without an answer.
  var serial: UInt32?
  /// Whether the first answer did not fit into a datagram; nil without an answer.
  var wasTruncated: Bool?
  /// How often the query was sent again.
  var retries = 0
  /// Why there is no answer.
  var failure: DNSFailure?

  /// What this host could not do; nil when the outcome is the server's.
  var fault: LocalFault? { if case .fault(let fault) = failure { fault } else { nil } }
}

extension DNSQueryOutcome {
  /// Puts down what was measured, apart from what every probe has.
  func record(into metrics: inout ProbeMetrics) {
    metrics.set(.dnsDuration, connect.inSeconds, [Label(name: "phase", value: "connect")])
    metrics.set(.dnsDuration, request.inSeconds, [Label(name: "phase", value: "request")])
    metrics.set(.dnsAnswers, Double(answers))
    metrics.set(.dnsAuthorities, Double(authorities))
    metrics.set(.dnsAdditionals, Double(additionals))
    metrics.set(.dnsSucceeded, hasAnswer ? 1 : 0)
    metrics.set(.dnsRetries, Double(retries))
    if let serial { metrics.set(.dnsSerial, Double(serial)) }
    if let wasTruncated { metrics.set(.dnsTruncated, wasTruncated ? 1 : 0) }
  }
}

extension ProbeFamily {
  static let dnsDuration = ProbeFamily(
    "probe_dns_duration_seconds", help: "Duration of DNS request by phase")
  static let dnsAnswers = ProbeFamily(
    "probe_dns_answer_rrs", help: "Returns number of entries in the answer resource record list")
  static let dnsAuthorities = ProbeFamily(
    "probe_dns_authority_rrs", help: "Returns number of entries in the authority resource record list")
  static let dnsAdditionals = ProbeFamily(
    "probe_dns_additional_rrs", help: "Returns number of entries in the additional resource record list")
  static let dnsSucceeded = ProbeFamily(
    "probe_dns_query_succeeded", help: "Displays whether or not the query was executed successfully")
  static let dnsSerial = ProbeFamily("probe_dns_serial", help: "Returns the serial number of the zone")
  // The two that blackbox_exporter does not have.
  static let dnsTruncated = ProbeFamily(
    "probe_dns_reply_truncated", help: "Whether the reply did not fit into a datagram and was asked for again over TCP")
  static let dnsRetries = ProbeFamily(
    "probe_dns_query_retries", help: "How often the query was sent again because no reply had come")
}
