internal import Glibc
internal import ReachCore
internal import ReachIO
internal import ReachNetlink

/// What is looked at when the agent starts.
extension SelfChecks.Trouble {
  /// That the kernel's tables of interfaces and routes are closed to this process.
  init(netlinkRefusedBy error: SystemError, in surroundings: Surroundings = .current) {
    self.init(
      check: "netlink", reason: .probeError(error.code),
      problem:
        "AF_NETLINK sockets are refused to this process (\(error)): it sees neither interfaces nor routes, so that"
        + " every target is Unknown",
      remedy: surroundings.remedy(for: .families(["AF_NETLINK"])))
  }

  /// That the service manager cannot be told how the agent does.
  init(managerNotTold error: SystemError, in surroundings: Surroundings = .current) {
    let isFamily = error.call == "socket" && error.code.errno == EAFNOSUPPORT
    self.init(
      check: "service_manager", reason: .probeError(error.code),
      problem: "the service manager cannot be told that the agent is ready (\(error)), and may give it up",
      remedy: isFamily
        ? surroundings.remedy(for: .families(["AF_UNIX"])) : "see what keeps reachd from its NOTIFY_SOCKET")
  }

  /// That this host has no interface but the loopback one, though targets lie beyond; nil where it is otherwise.
  init?(seeing links: [LinkAttributes], for targets: [Target], in surroundings: Surroundings = .current) {
    guard links.allSatisfy({ $0.medium == .loopback }), targets.contains(where: \.isBeyondLoopback) else { return nil }
    self.init(
      check: "network", reason: .noRoute,
      problem: "there is no interface but the loopback one: nothing beyond this host can be reached",
      remedy: surroundings.remedy(for: .network))
  }
}

extension Target {
  /// Whether another interface than the loopback one is needed to reach it.
  fileprivate var isBeyondLoopback: Bool {
    switch kind {
    case .address(let address), .pair(_, let address): !address.isLoopback
    case .interface(let name), .linkLocal(interface: let name): name != "lo"
    case .host, .defaultPath: true
    }
  }
}
