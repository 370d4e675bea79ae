internal import Glibc
internal import ReachCore
internal import ReachIO

extension NetlinkSession {
  /// Asks what the kernel would do with a packet (RTM_GETROUTE). The kernel answers within the call.
  ///
  /// `.refused` is its own decision, as an errno (K3 of the mapping: EHOSTUNREACH, EACCES, EINVAL, ENETUNREACH;
  /// ENODEV for an interface that does not exist). `.fault` says that nothing is known: the socket failed
  /// (`EAGAIN`: no answer came; `EPROTO`: one that cannot be understood), or the source is no address of this host
  /// (`EADDRNOTAVAIL`), or EINVAL came where it cannot be told from a malformed request.
  public func lookup(_ query: RouteQuery) -> RouteAnswer {
    let answer = ask(query)
    guard case .refused(let code) = answer, code.errno == EINVAL else { return answer }
    return explainInvalid(query)
  }

  private func ask(_ query: RouteQuery) -> RouteAnswer {
    switch exchange(.route(query)) {
    case .message(.route(let route, isRemoval: false)): .route(route)
    case .message: .fault(FaultCode(errno: EPROTO))
    case .refused(let ack): ack.code.map { .refused($0) } ?? .fault(FaultCode(errno: EPROTO))
    case .fault(let code): .fault(code)
    }
  }

  /// EINVAL is the answer of a blackhole, to a source that is not ours, and to a request the kernel cannot read.
  private func explainInvalid(_ query: RouteQuery) -> RouteAnswer {
    guard isEncoderProven(query.destination.family) else { return .fault(FaultCode(errno: EINVAL)) }
    guard query.source != nil else { return .refused(FaultCode(errno: EINVAL)) }
    var unbound = query
    unbound.source = nil
    if case .refused(let code) = ask(unbound), code.errno == EINVAL { return .refused(code) }
    return .fault(FaultCode(errno: EADDRNOTAVAIL))
  }

  /// Whether the kernel has read a request of that family. Tried once with an address every host has: any other answer
  /// than EINVAL shows that the request was understood.
  private func isEncoderProven(_ family: IPAddress.Family) -> Bool {
    if state.withState({ $0.proven.contains(family) }) { return true }
    let own = family == .ipv4 ? IPAddress(ipv4: 0x7f00_0001) : IPAddress(ipv6High: 0, low: 1)
    switch ask(RouteQuery(destination: own)) {
    case .route: break
    case .refused(let code): if code.errno == EINVAL { return false }
    case .fault: return false
    }
    state.withState { _ = $0.proven.insert(family) }
    return true
  }
}
