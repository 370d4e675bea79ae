internal import CReachLinux
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
    guard case .refused(let code) = answer, code.errno == EINVAL || code.errno == ENETUNREACH else { return answer }
    // EINVAL is a blackhole, or a request the kernel cannot read; both, by kernel, answer a source that is not ours.
    if code.errno == EINVAL, !isEncoderProven(query.destination.family) { return .fault(code) }
    if let source = query.source, source.family == query.destination.family, !isOwn(source) {
      return .fault(FaultCode(errno: EADDRNOTAVAIL))
    }
    return answer
  }

  private func ask(_ query: RouteQuery) -> RouteAnswer {
    switch exchange(.route(query)) {
    case .message(.route(let route, isRemoval: false)): .route(route)
    case .message: .fault(FaultCode(errno: EPROTO))
    case .refused(let ack): ack.code.map { .refused($0) } ?? .fault(FaultCode(errno: EPROTO))
    case .fault(let code): .fault(code)
    }
  }

  /// Whether the address is one of this host. The list of addresses has the last word, since the address of an
  /// interface in a VRF is local only there; when it cannot be had, the benefit of the doubt.
  private func isOwn(_ address: IPAddress) -> Bool {
    if case .route(let route) = ask(RouteQuery(destination: address)), Int(route.type) == RTN_LOCAL { return true }
    guard let own = try? addresses() else { return true }
    return own.contains { $0.address == address }
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
