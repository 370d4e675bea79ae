internal import Glibc
internal import ReachCore
internal import ReachNetlink
internal import ReachProbe

/// What the probe reads of the kernel's tables; tests put answers of other kernels in its place.
protocol KernelTables {
  /// The answer to RTM_GETROUTE.
  func lookup(_ query: RouteQuery) -> RouteAnswer
  /// The index of the interface of that name; nil when there is none.
  func interfaceIndex(named name: String) -> Int32?
  /// The name of the interface of that index; empty when it is not known.
  func interfaceName(_ index: Int32) -> String
  /// Whether IPv6 still looks whether another host has the address, which is on an interface of this host.
  func isTentative(_ address: IPAddress) -> Bool

  /// Whether connections to one and the same address may take different next hops of a route that has several.
  func spreadsConnections(_ family: IPAddress.Family) -> Bool
  /// Whether the neighbour's entry stands at NUD_FAILED: it was asked for and did not answer. With `orUnanswered` it
  /// counts as well that it is being asked for and has not answered yet (NUD_INCOMPLETE).
  func hasFailed(neighbour: IPAddress, on interface: Int32, orUnanswered: Bool) -> Bool
}

extension ProbeHost: KernelTables {
  func lookup(_ query: RouteQuery) -> RouteAnswer { netlink.lookup(query) }

  func interfaceIndex(named name: String) -> Int32? {
    let link = links.finding(named: name)
    return link.state == .missing || link.index <= 0 ? nil : link.index
  }

  func interfaceName(_ index: Int32) -> String { links.finding(index: index)?.interface ?? "" }

  func isTentative(_ address: IPAddress) -> Bool { netlink.ownAddress(address) == .tentative }

  /// By `fib_multipath_hash_policy` (Documentation/networking/ip-sysctl.rst), which the kernel keeps for each network
  /// namespace: 0, its default, looks at addresses alone. It is read only where a route has several next hops.
  func spreadsConnections(_ family: IPAddress.Family) -> Bool {
    let folder = family == .ipv4 ? "ipv4" : "ipv6"
    let number = unsafe open("/proc/sys/net/\(folder)/fib_multipath_hash_policy", O_RDONLY | O_CLOEXEC)
    guard number >= 0 else { return false }
    defer { close(number) }
    var digit: UInt8 = 0
    return unsafe read(number, &digit, 1) == 1 && digit != UInt8(ascii: "0")
  }

  func hasFailed(neighbour: IPAddress, on interface: Int32, orUnanswered: Bool) -> Bool {
    guard let state = netlink.neighbourState(interface: interface, address: neighbour) else { return false }
    return state.contains(.failed) || (orUnanswered && state.contains(.incomplete))
  }
}
