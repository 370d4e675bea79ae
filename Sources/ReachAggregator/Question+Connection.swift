internal import ReachCore

/// TCP: whether the peer answers.
extension Question {
  /// What one candidate comes to, the connection included.
  func assess(_ candidate: Candidate) -> Assessment {
    let path = assessPath(candidate)
    guard path.isClear, isDecidedByTCP else { return path }
    guard let finding = candidate.tcp else { return path.unknown(missingReason, .connection) }
    switch finding.result {
    case .open: return answered(path, .tcpOpen)
    case .failed(.tcpRefused) where tcp == .host: return answered(path, .tcpRefused)
    case .failed(let reason): return path.failed(refined(reason, candidate), .connection)
    case .refusedLocally(let code): return refusedLocally(code, candidate, path)
    case .fault(let code): return path.unknown(.probeError(code), .connection)
    case .notRun: return path.unknown(missingReason, .connection)
    }
  }

  private func answered(_ path: Assessment, _ reason: Reason) -> Assessment {
    Assessment(path.flags, reason, .connection, path.path)
  }

  /// A next hop that does not answer ARP or neighbour discovery is nearer than the silence it causes.
  private func refined(_ reason: Reason, _ candidate: Candidate) -> Reason {
    let isSilence = reason == .tcpTimeout || reason == .tcpHostUnreachable
    return isSilence && candidate.route?.isNeighbourFailed == true ? .neighbourFailed : reason
  }

  /// connect(2) failed at once. Beside a route that is fine that is this host's fault; where no route was asked for,
  /// the two errnos that only a routing decision gives stand for it.
  private func refusedLocally(_ code: FaultCode, _ candidate: Candidate, _ path: Assessment) -> Assessment {
    if candidate.route == nil {
      if code == .networkUnreachable { return path.failed(isScoped ? .scopeNoRoute : .noRoute, .route) }
      if code == .hostUnreachable { return path.failed(.routeUnreachable, .route) }
    }
    return path.unknown(.probeError(code), .connection)
  }
}

extension FaultCode {
  /// ENETUNREACH.
  static let networkUnreachable = FaultCode(errno: 101)
  /// EHOSTUNREACH.
  static let hostUnreachable = FaultCode(errno: 113)
}
