internal import Glibc
internal import ReachCore
internal import ReachIO

extension SelfChecks.Trouble {
  /// The trouble that a fault speaks of; nil for one that says nothing more than the target's reason, or that has been
  /// said in another way.
  init?(_ fault: LocalFault, in surroundings: Surroundings = .current) {
    guard let known = Self.known(fault.reason, hasDetail: !fault.detail.isEmpty, surroundings) else { return nil }
    self.init(
      check: known.check, reason: fault.reason, problem: fault.detail.isEmpty ? known.problem : fault.detail,
      remedy: fault.remedy.isEmpty ? known.remedy : fault.remedy)
  }

  /// That a resolver fails, and that older answers stand in.
  init(staleBecause reason: Reason, servers: [IPAddress]) {
    let names = servers.map(\.description).joined(separator: ", ")
    self.init(
      check: "resolver", reason: reason,
      problem: "\(reason): \(reason.explanation); addresses of an older answer are used (dns_stale)",
      remedy: names.isEmpty ? "see to the name servers" : "see to the name servers that were asked: \(names)")
  }

  private static func known(
    _ reason: Reason, hasDetail: Bool, _ surroundings: Surroundings
  ) -> (check: String, problem: String, remedy: String)? {
    switch reason {
    case .probeError(let code): known(code, surroundings)
    case .resolverConfig: ("resolver", "no name server is configured", surroundings.remedy(for: .nameServers))
    case .backendOverran where hasDetail: ("schedule", "", "give this host or reachd more time to run")
    case .notProbed where hasDetail: ("configuration", "", "")
    default: nil
    }
  }

  private static func known(
    _ code: FaultCode, _ surroundings: Surroundings
  ) -> (check: String, problem: String, remedy: String) {
    switch code.errno {
    case EPERM, EACCES, ENOSYS:
      (
        "permission", "this process is not permitted to probe (\(code))",
        surroundings.remedy(for: .call("the calls on sockets"))
      )
    case EAFNOSUPPORT, EPROTONOSUPPORT:
      (
        "permission", "sockets of the target's address family are refused to this process (\(code))",
        surroundings.remedy(for: .families(["AF_INET", "AF_INET6"]))
      )
    case EMFILE:
      (
        "descriptors", "this process has no descriptor left to probe with (EMFILE)",
        surroundings.remedy(for: .descriptors)
      )
    case ENFILE: ("descriptors", "this host has no descriptor left (ENFILE)", "raise the sysctl fs.file-max")
    case ENOBUFS, ENOMEM, nil:
      ("memory", "this host has no memory left to probe with (\(code))", "free memory on this host")
    case EADDRNOTAVAIL:
      (
        "source", "no local port is left, or the source address is not this host's (EADDRNOTAVAIL)",
        "widen the sysctl net.ipv4.ip_local_port_range, or correct source.address"
      )
    default: ("probe", "this host could not probe (\(code))", "")
    }
  }
}
