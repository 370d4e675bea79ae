internal import ReachCore

/// What came of asking one server one question once.
enum DNSReply: Hashable, Sendable {
  /// There are addresses; the smallest TTL in seconds of them and of the aliases that led to them.
  case addresses([IPAddress], ttl: UInt32)
  /// The name exists and has no record of this type.
  case noData
  /// The name does not exist.
  case nxDomain
  /// The server failed the question, or its answer is of no use, for this reason.
  case failed(Reason)
  /// FORMERR, or an EDNS version the server does not know: it may understand the question without EDNS.
  case formatError
  /// The answer did not fit.
  case truncated
  /// A TCP connection ended before the answer came.
  case closed
  /// c-ares gave the query up.
  case timedOut
  /// The server, or its port, cannot be reached, as this errno tells.
  case unreachable(FaultCode)
  /// This host could not ask.
  case fault(LocalFault)

  /// In words, for the probe's log.
  var text: String {
    switch self {
    case .addresses(let addresses, let ttl): "\(addresses.map(\.description).joined(separator: " ")), TTL \(ttl) s"
    case .noData: "no data"
    case .nxDomain: "NXDOMAIN"
    case .failed(let reason): reason.description
    case .formatError: "FORMERR"
    case .truncated: "truncated"
    case .closed: "connection closed"
    case .timedOut: "no answer"
    case .unreachable(let code): "unreachable (\(code.name))"
    case .fault(let fault): "\(fault.reason) \(fault.detail)"
    }
  }
}
