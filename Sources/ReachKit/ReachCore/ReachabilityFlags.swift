/// SCNetworkReachabilityFlags: how a target can be reached, bit for bit as SystemConfiguration numbers them.
public struct ReachabilityFlags: OptionSet, Hashable, Sendable, CustomStringConvertible {
  /// The bits as SystemConfiguration numbers them.
  public let rawValue: UInt32
  /// Flags of those bits; unknown ones are kept.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// `t`: the path is PPP, VPN, a tunnel or cellular.
  public static let transientConnection = ReachabilityFlags(rawValue: 1 << 0)
  /// `R`: a packet for the target can leave this host.
  public static let reachable = ReachabilityFlags(rawValue: 1 << 1)
  /// `c`: only after a connection has been brought up.
  public static let connectionRequired = ReachabilityFlags(rawValue: 1 << 2)
  /// `C`: any packet brings the connection up.
  public static let connectionOnTraffic = ReachabilityFlags(rawValue: 1 << 3)
  /// `i`: a person must act first.
  public static let interventionRequired = ReachabilityFlags(rawValue: 1 << 4)
  /// `D`: brought up on demand for this name.
  public static let connectionOnDemand = ReachabilityFlags(rawValue: 1 << 5)
  /// `l`: the target is an address of this host.
  public static let isLocalAddress = ReachabilityFlags(rawValue: 1 << 16)
  /// `d`: no gateway between this host and the target.
  public static let isDirect = ReachabilityFlags(rawValue: 1 << 17)
  /// `W`: the path is cellular.
  public static let isWWAN = ReachabilityFlags(rawValue: 1 << 18)

  /// Each flag with its letter and its SystemConfiguration name, in the order of Apple's Reachability sample.
  public static let all: [(flag: ReachabilityFlags, letter: Character, name: String)] = [
    (.isWWAN, "W", "IsWWAN"), (.reachable, "R", "Reachable"), (.transientConnection, "t", "TransientConnection"),
    (.connectionRequired, "c", "ConnectionRequired"), (.connectionOnTraffic, "C", "ConnectionOnTraffic"),
    (.interventionRequired, "i", "InterventionRequired"), (.connectionOnDemand, "D", "ConnectionOnDemand"),
    (.isLocalAddress, "l", "IsLocalAddress"), (.isDirect, "d", "IsDirect"),
  ]

  /// The text for flags that are absent, while the status is Unknown.
  public static let absentDescription = "?? ???????"

  /// Apple's form `WR tcCiDld`: two letters, a space, seven letters, `-` for each flag that is clear.
  public var description: String {
    var text = ""
    text.reserveCapacity(10)
    for (index, entry) in Self.all.enumerated() {
      if index == 2 { text.append(" ") }
      text.append(contains(entry.flag) ? entry.letter : "-")
    }
    return text
  }

  /// Reads the form that `description` writes; nil for anything else, `?? ???????` included.
  public init?(description: String) {
    let letters = Array(description)
    guard letters.count == 10, letters[2] == " " else { return nil }
    var flags: ReachabilityFlags = []
    for (index, entry) in Self.all.enumerated() {
      let letter = letters[index < 2 ? index : index + 1]
      if letter == entry.letter { flags.insert(entry.flag) } else if letter != "-" { return nil }
    }
    self = flags
  }
}
