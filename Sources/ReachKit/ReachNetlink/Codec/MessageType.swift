internal import CReachLinux

/// The names of message types, as headers and metrics spell them.
public enum MessageType {
  private static let names: [(number: Int, name: String)] = [
    (Int(NLMSG_NOOP), "NLMSG_NOOP"), (Int(NLMSG_ERROR), "NLMSG_ERROR"), (Int(NLMSG_DONE), "NLMSG_DONE"),
    (Int(NLMSG_OVERRUN), "NLMSG_OVERRUN"),
    (RTM_NEWLINK, "RTM_NEWLINK"), (RTM_DELLINK, "RTM_DELLINK"),
    (RTM_NEWADDR, "RTM_NEWADDR"), (RTM_DELADDR, "RTM_DELADDR"),
    (RTM_NEWROUTE, "RTM_NEWROUTE"), (RTM_DELROUTE, "RTM_DELROUTE"),
    (RTM_NEWNEIGH, "RTM_NEWNEIGH"), (RTM_DELNEIGH, "RTM_DELNEIGH"),
    (RTM_NEWRULE, "RTM_NEWRULE"), (RTM_DELRULE, "RTM_DELRULE"),
    (RTM_NEWNETCONF, "RTM_NEWNETCONF"), (RTM_DELNETCONF, "RTM_DELNETCONF"),
    (RTM_NEWNEXTHOP, "RTM_NEWNEXTHOP"), (RTM_DELNEXTHOP, "RTM_DELNEXTHOP"),
    (RTM_NEWNEXTHOPBUCKET, "RTM_NEWNEXTHOPBUCKET"), (RTM_DELNEXTHOPBUCKET, "RTM_DELNEXTHOPBUCKET"),
    (RTM_GETLINK, "RTM_GETLINK"), (RTM_GETADDR, "RTM_GETADDR"), (RTM_GETROUTE, "RTM_GETROUTE"),
    (RTM_GETNEIGH, "RTM_GETNEIGH"),
  ]

  /// The name, such as `RTM_NEWLINK`; `other` for a type that is not among those reachd reads.
  public static func name(_ type: UInt16) -> String {
    names.first { $0.number == Int(type) }?.name ?? "other"
  }
}
