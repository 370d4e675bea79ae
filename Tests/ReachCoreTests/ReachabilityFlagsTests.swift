internal import ReachCore
internal import Testing

@Suite struct ReachabilityFlagsTests {
  @Test("Every flag has SystemConfiguration's bit")
  func bits() {
    let expected: [(ReachabilityFlags, UInt32)] = [
      (.transientConnection, 0x1), (.reachable, 0x2), (.connectionRequired, 0x4), (.connectionOnTraffic, 0x8),
      (.interventionRequired, 0x10), (.connectionOnDemand, 0x20), (.isLocalAddress, 0x10000), (.isDirect, 0x20000),
      (.isWWAN, 0x40000),
    ]
    for (flag, bit) in expected { #expect(flag.rawValue == bit) }
    #expect(ReachabilityFlags.all.count == expected.count)
  }

  @Test(
    "Flags are written as Apple's sample writes them",
    arguments: [
      (0, "-- -------"), (0x2, "-R -------"), (0x30002, "-R -----ld"), (0x40003, "WR t------"), (0xf, "-R tcC----"),
      (0x16, "-R -c-i---"), (0x27, "-R tc--D--"), (0x40000, "W- -------"), (0x7003f, "WR tcCiDld"),
    ])
  func written(_ bits: UInt32, _ text: String) {
    #expect(ReachabilityFlags(rawValue: bits).description == text)
    #expect(ReachabilityFlags(description: text)?.rawValue == bits)
  }

  @Test("Every combination can be read back from its text")
  func roundTrip() {
    for flags in everyCombination { #expect(ReachabilityFlags(description: flags.description) == flags) }
    #expect(Set(everyCombination.map(\.description)).count == 512)
  }

  @Test(
    "Other texts are not flags, the one for absent flags included",
    arguments: [
      "", "-R", "?? ???????", "-R ------", "-R --------", "R- -------", "-R-t------", "-R ct-----", "-R\u{a0}-------",
    ])
  func unreadable(_ text: String) {
    #expect(ReachabilityFlags(description: text) == nil)
  }
}

/// All 512 sets of the nine flags.
let everyCombination: [ReachabilityFlags] = (0..<512).map { number in
  var flags: ReachabilityFlags = []
  for (place, entry) in ReachabilityFlags.all.enumerated() where number >> place & 1 == 1 { flags.insert(entry.flag) }
  return flags
}
