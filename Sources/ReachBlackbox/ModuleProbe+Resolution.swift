internal import Glibc
internal import ReachConfig
public import ReachCore
internal import ReachIO
internal import ReachNetlink
internal import ReachProbe

extension ModuleProbe {
  /// The target as the one address of it that is probed; the target itself when it has none to choose from.
  public func addressed(into metrics: inout ProbeMetrics) async -> Result<Target, Ending> {
    switch target.kind {
    case .defaultPath, .linkLocal, .interface, .pair: return .success(target)
    case .host, .address: break
    }
    do throws(ProbeStop) {
      let resolved = try await resolve(ModuleAddressing(), port: target.port ?? 0, into: &metrics)
      var addressed = target
      addressed.kind = .address(resolved.chosen)
      return .success(addressed)
    } catch {
      return .failure(Ending(outcome: error.outcome))
    }
  }

  /// An address to probe, and how long it took to have it.
  struct Resolved {
    let chosen: IPAddress
    let address: SocketAddress
    let lookup: Duration
  }

  /// Finds the one address of the target that the module wants, as blackbox_exporter chooses it: the first of the
  /// preferred family, or else, where that will do, one of the other.
  func resolve(
    _ addressing: ModuleAddressing, port: UInt16, into metrics: inout ProbeMetrics
  ) async throws(ProbeStop) -> Resolved {
    metrics.set(.protocolVersion, 0)
    metrics.set(.lookupTime, 0)
    metrics.set(.addressHash, 0)
    let wanted = addressing.preferred == .ipv4 ? "ip4" : "ip6"
    log.note(.info, "Resolving target address", ["target": target.name, "ip_protocol": wanted])
    let start = host.loop.now()
    let found: [IPAddress]
    do throws(ProbeStop) { found = try await addresses() } catch {
      metrics.set(.lookupTime, host.loop.now().since(start).inSeconds)
      throw error
    }
    let lookup = host.loop.now().since(start)
    metrics.set(.lookupTime, lookup.inSeconds)
    let chosen =
      found.first { $0.family == addressing.preferred } ?? (addressing.allowsOtherFamily ? found.first : nil)
    guard let chosen else {
      log.note(
        .error, "Resolution with IP protocol failed", ["ip_protocol": wanted, "err": "no address of this family"])
      throw .failure
    }
    metrics.set(.protocolVersion, chosen.family == .ipv4 ? 4 : 6)
    metrics.set(.addressHash, Double(Self.hash(chosen)))
    log.note(.info, "Resolved target address", ["target": target.name, "ip": "\(chosen)"])
    do throws(ProbeAllowance.Refusal) {
      try allowance.check(chosen, port: port, under: grant, of: name)
    } catch {
      log.note(.error, "Address is not allowed", ["err": "\(error)"])
      throw ProbeStop(outcome: .refused(error))
    }
    guard let scope = scope(of: chosen) else {
      log.note(.error, "Zone is no interface of this host", ["zone": chosen.zone ?? ""])
      throw .failure
    }
    return Resolved(chosen: chosen, address: SocketAddress(chosen, port: port, scope: scope), lookup: lookup)
  }

  private var name: HostName? { if case .host(let name) = target.kind { name } else { nil } }

  /// Every address of the target.
  private func addresses() async throws(ProbeStop) -> [IPAddress] {
    switch target.kind {
    case .address(let address): return [address]
    case .pair(_, let remote): return [remote]
    case .defaultPath, .linkLocal, .interface:
      log.note(.error, "Target has no address", ["kind": target.kindName])
      throw .failure
    case .host: break
    }
    guard let resolver else {
      throw ProbeStop(outcome: .fault(LocalFault(.backendMissing, detail: "dns")))
    }
    let context = ProbeContext(host: host, deadline: deadline, candidates: [], log: log)
    let evidence: Evidence
    do throws(LocalFault) { evidence = try await resolver.probe(target, in: context) } catch {
      log.note(.error, "Error resolving address", ["err": "\(error.reason) \(error.detail)"])
      throw ProbeStop(outcome: .fault(error))
    }
    guard case .dns(let finding) = evidence else {
      throw ProbeStop(outcome: .fault(LocalFault(.probeError(FaultCode(errno: EPROTO)), detail: "dns")))
    }
    switch finding.result {
    case .resolved: return finding.addresses
    case .failed(let reason):
      log.note(.error, "Error resolving address", ["err": "\(reason): \(reason.explanation)"])
      throw .failure
    case .fault(let fault):
      log.note(.error, "Error resolving address", ["err": "\(fault.reason) \(fault.detail)"])
      // A host without a name server is set up like that; one without descriptors is in trouble.
      if case .probeError = fault.reason { throw ProbeStop(outcome: .fault(fault)) }
      throw .failure
    }
  }

  /// FNV-1a in 32 bits of the address's octets, which blackbox_exporter has for telling that an address has changed.
  static func hash(_ address: IPAddress) -> UInt32 {
    address.octets.reduce(0x811c_9dc5) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
  }

  /// The zone as sin6_scope_id: 0 without one, nil for one that is no interface of this host.
  func scope(of address: IPAddress) -> UInt32? {
    guard let zone = address.zone else { return 0 }
    let known = host.links.finding(named: zone).index
    if known > 0 { return UInt32(known) }
    if let number = UInt32(zone) { return number }
    let index = unsafe if_nametoindex(zone)
    return index == 0 ? nil : index
  }
}
