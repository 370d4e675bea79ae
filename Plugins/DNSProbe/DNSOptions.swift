internal import ReachCore
internal import ReachProbe

/// The options of the probe, read into what the resolver works with.
struct DNSOptions: Hashable, Sendable {
  /// The families whose addresses are asked for.
  var families: [IPAddress.Family] = [.ipv6, .ipv4]
  /// The servers that the configuration names; nil: the system's.
  var servers: [Nameserver]?
  /// How queries travel; nil: as the system's configuration says, which is UDP mostly.
  var transport: QueryPlan.Transport?
  /// Whether queries carry EDNS.
  var usesEDNS = true
  /// How often each server may be asked one question in one round.
  var tries = 3
  /// Whether an answer is used again until its TTL has passed.
  var usesCache = true
  /// Whether queries leave from the target's source.
  var bindsSource = false
  /// The least time that the slower family gets. No option: tests put it where timing cannot matter.
  var leastGrace = Duration.milliseconds(200)

  /// The defaults.
  init() {}

  /// Reads the values. Throws what does not go together.
  init(_ values: OptionValues) throws(OptionError) {
    switch values.string("family") {
    case "ipv4": families = [.ipv4]
    case "ipv6": families = [.ipv6]
    default: break
    }
    servers = try Self.servers(values)
    transport = values.string("transport").flatMap(QueryPlan.Transport.init(rawValue:))
    usesEDNS = values.boolean("edns") ?? true
    tries = values.integer("attempts") ?? 3
    usesCache = values.boolean("cache") ?? (servers == nil)
    bindsSource = values.boolean("bind") ?? (servers != nil)
  }

  private static func servers(_ values: OptionValues) throws(OptionError) -> [Nameserver]? {
    var endpoints = values.endpoints("servers")
    if let endpoint = values.endpoint("server") {
      guard endpoints.isEmpty else {
        throw OptionError(option: "servers", message: "'server' is given as well; put all of them into 'servers'")
      }
      endpoints = [endpoint]
    }
    guard !endpoints.isEmpty else { return nil }
    guard endpoints.count <= 8 else {
      throw OptionError(option: "servers", message: "there are \(endpoints.count) servers; give at most 8")
    }
    var servers: [Nameserver] = []
    for endpoint in endpoints {
      let address = endpoint.address
      guard !address.isUnspecified, !address.isMulticast, !address.isBroadcast else {
        throw OptionError(
          option: values.endpoint("server") == nil ? "servers" : "server",
          message: "no name server can be asked at \(address); give the address of a host")
      }
      let server = Nameserver(address: address, port: endpoint.port ?? 53)
      if !servers.contains(server) { servers.append(server) }
    }
    return servers
  }

  /// What may be set, as users see it.
  static let declarations: [ProbeOption] = [
    ProbeOption(
      "family", .choice(["any", "ipv4", "ipv6"]), default: .string("any"),
      summary: "which addresses to ask for; any asks for both side by side"),
    ProbeOption("server", .endpoint, summary: "the name server to ask instead of the system's, on port 53 by default"),
    ProbeOption("servers", .endpoints, summary: "several name servers, asked in turn; at most 8"),
    ProbeOption(
      "transport", .choice(["udp", "tcp"]),
      summary: "how to ask; udp by default, with tcp for answers that do not fit"),
    ProbeOption("edns", .boolean, default: .boolean(true), summary: "offer answers of up to 1232 octets over udp"),
    ProbeOption(
      "attempts", .integer(1...10), default: .integer(3),
      summary: "how often each server may be asked within the deadline"),
    ProbeOption(
      "cache", .boolean,
      summary: "use an answer again until its TTL has passed; true by default unless a server is named"),
    ProbeOption(
      "bind", .boolean, summary: "ask from the target's source; true by default only if a server is named"),
  ]
}
