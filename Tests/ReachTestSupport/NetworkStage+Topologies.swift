public import ReachCore

/// The addresses of the prebuilt topologies: prefixes set aside for documentation (RFC 5737, RFC 3849).
public enum StageAddress {
  /// The host on `veth0`, of 192.0.2.0/24.
  public static let host: IPAddress = "192.0.2.1"
  /// The host on `veth0`, of 2001:db8::/64.
  public static let host6: IPAddress = "2001:db8::1"
  /// The gateway on its `veth1`.
  public static let gateway: IPAddress = "192.0.2.254"
  /// The gateway on its `veth1`.
  public static let gateway6: IPAddress = "2001:db8::fe"
  /// The server behind the router, of 198.51.100.0/24.
  public static let server: IPAddress = "198.51.100.2"
  /// The server behind the router, of 2001:db8:1::/64.
  public static let server6: IPAddress = "2001:db8:1::2"
  /// Nobody's, but on the link that the host and the gateway share.
  public static let absent: IPAddress = "192.0.2.99"
  /// Nobody's, but on the link that the host and the gateway share.
  public static let absent6: IPAddress = "2001:db8::99"
}

extension NetworkStage {
  /// The host's `veth0` (192.0.2.1/24, 2001:db8::1/64) joined to a new namespace's `veth1` (192.0.2.254, 2001:db8::fe),
  /// which is the host's gateway by default. Returns the gateway's namespace.
  ///
  /// The gateway forwards, and knows no way but to its neighbours: it answers for the rest with ICMP "no route".
  public func stageGateway() throws -> NetworkNamespace {
    let gateway = try addNamespace("gateway")
    try join(host, "veth0", to: gateway, "veth1")
    try gateway.ip("address add 192.0.2.254/24 dev veth1\naddress add 2001:db8::fe/64 dev veth1")
    try gateway.set("ipv4/conf/all/forwarding", to: "1")
    try gateway.set("ipv6/conf/all/forwarding", to: "1")
    try host.ip(
      """
      address add 192.0.2.1/24 dev veth0
      address add 2001:db8::1/64 dev veth0
      route add default via 192.0.2.254
      route add default via 2001:db8::fe
      """)
    return gateway
  }

  /// `stageGateway` with a server behind the gateway: the router's `veth2` (198.51.100.254, 2001:db8:1::fe) joined to
  /// the server's `veth3` (198.51.100.2, 2001:db8:1::2). Returns the namespaces of both.
  public func stageRouterAndServer() throws -> (router: NetworkNamespace, server: NetworkNamespace) {
    let router = try stageGateway()
    let server = try addNamespace("server")
    try join(router, "veth2", to: server, "veth3")
    try router.ip("address add 198.51.100.254/24 dev veth2\naddress add 2001:db8:1::fe/64 dev veth2")
    try server.ip(
      """
      address add 198.51.100.2/24 dev veth3
      address add 2001:db8:1::2/64 dev veth3
      route add default via 198.51.100.254
      route add default via 2001:db8:1::fe
      """)
    return (router, server)
  }

  /// A second way from the host to the router: `backup` (203.0.113.1/24) joined to the router's `backup1`
  /// (203.0.113.254). No route leads over it yet.
  public func addBackupLink(to router: NetworkNamespace) throws {
    try join(host, "backup", to: router, "backup1")
    try router.ip("address add 203.0.113.254/24 dev backup1")
    try host.ip("address add 203.0.113.1/24 dev backup")
  }
}
