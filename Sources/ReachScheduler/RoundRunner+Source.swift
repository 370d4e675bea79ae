internal import Glibc
internal import ReachCore
internal import ReachIO
internal import ReachNetlink
internal import ReachProbe

extension RoundRunner {
  /// How long it takes until a tentative address is looked at again: duplicate address detection lasts a second or two.
  private static let pause = Duration.milliseconds(50)

  /// Waits, within the round, until the IPv6 address that the target's sockets bind to can be bound to.
  ///
  /// An address that has just been added is tentative for a second or two (RFC 4862 section 5.4). That is no fault of
  /// the target and none of this host's, and it passes by itself. An address that turns out to be another host's stays
  /// unusable: the round then goes on, and says so.
  func awaitSource(until deadline: Instant, in progress: LoopConfined<RoundProgress>) async {
    guard bindsIPv6, let address = Self.boundAddress(of: target) else { return }
    while true {
      switch host.netlink.ownAddress(address) {
      case .usable, .absent: return
      case .duplicate:
        return progress.withState { $0.note(Self.duplicate(address)) }
      case .tentative:
        let now = host.loop.now()
        guard now < deadline, !Task.isCancelled else { return }
        await host.loop.sleep(until: min(deadline, now.advanced(by: Self.pause)))
      }
    }
  }

  /// The address that the target's sockets are bound to.
  static func boundAddress(of target: Target) -> IPAddress? {
    if let address = target.source.address { return address }
    if case .pair(let local, _) = target.kind { return local }
    return nil
  }

  private static func duplicate(_ address: IPAddress) -> LocalFault {
    LocalFault(
      errno: EADDRNOTAVAIL,
      detail:
        "the source address \(address) cannot be used: another host on its link has it (duplicate address detection)",
      remedy: "give one of the two hosts another address, then remove the address here and add it again")
  }
}
