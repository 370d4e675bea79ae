internal import CReachLinux
public import ReachCore

/// A request to rtnetlink(7), and its bytes.
public enum NetlinkRequest: Hashable, Sendable {
  /// RTM_GETLINK: all interfaces, without their statistics.
  case links
  /// RTM_GETADDR: all addresses of this host.
  case addresses
  /// RTM_GETNEIGH: all neighbours.
  case neighbours
  /// RTM_GETNEIGH: one neighbour of that interface.
  case neighbour(interface: Int32, address: IPAddress)
  /// RTM_GETROUTE: what the kernel would do with a packet.
  case route(RouteQuery)

  /// Whether the answer is a row of messages up to NLMSG_DONE.
  public var isDump: Bool {
    switch self {
    case .links, .addresses, .neighbours: true
    case .neighbour, .route: false
    }
  }

  /// Writes the request over what `buffer` holds, keeping its capacity.
  public func encode(into buffer: inout [UInt8], sequence: UInt32) {
    // Moved, not copied: a second reference to the buffer would have its storage made anew.
    var encoder = RequestEncoder(reusing: exchange(&buffer, with: []))
    let flags = isDump ? NLM_F_DUMP : 0
    switch self {
    case .links:
      encoder.begin(RTM_GETLINK, flags: flags, sequence: sequence)
      encoder.append(ifinfomsg())
      encoder.append(IFLA_EXT_MASK, word: UInt32(truncatingIfNeeded: RTEXT_FILTER_SKIP_STATS))
    case .addresses:
      encoder.begin(RTM_GETADDR, flags: flags, sequence: sequence)
      encoder.append(ifaddrmsg())
    case .neighbours:
      encoder.begin(RTM_GETNEIGH, flags: flags, sequence: sequence)
      encoder.append(ndmsg())
    case .neighbour(let interface, let address):
      encoder.begin(RTM_GETNEIGH, flags: flags, sequence: sequence)
      var body = ndmsg()
      body.ndm_family = address.family.socketFamily
      body.ndm_ifindex = interface
      encoder.append(body)
      encoder.append(Int(NDA_DST), address: address)
    case .route(let query):
      encoder.begin(RTM_GETROUTE, flags: flags, sequence: sequence)
      Self.append(query, to: &encoder)
    }
    buffer = encoder.finish()
  }

  private static func append(_ query: RouteQuery, to encoder: inout RequestEncoder) {
    var body = rtmsg()
    let family = query.destination.family
    body.rtm_family = family.socketFamily
    body.rtm_dst_len = UInt8(truncatingIfNeeded: family.octetCount &* 8)
    // A source of the other family cannot be said in this message; the kernel would call the request malformed.
    let source = query.source.flatMap { $0.family == family ? $0 : nil }
    if source != nil { body.rtm_src_len = body.rtm_dst_len }
    var flags = query.isFIBMatch ? RTM_F_FIB_MATCH : 0
    // Without it an IPv4 answer always names the main table. An IPv6 answer names the true one, and a strict socket
    // refuses the flag there.
    if family == .ipv4 { flags |= RTM_F_LOOKUP_TABLE }
    body.rtm_flags = UInt32(bitPattern: flags)
    encoder.append(body)
    encoder.append(Int(RTA_DST.rawValue), address: query.destination)
    if let source { encoder.append(Int(RTA_SRC.rawValue), address: source) }
    if query.outputInterface != 0 {
      encoder.append(Int(RTA_OIF.rawValue), word: UInt32(bitPattern: query.outputInterface))
    }
    if let mark = query.mark { encoder.append(Int(RTA_MARK.rawValue), word: mark) }
    if let port = query.tcpPort {
      encoder.append(Int(RTA_IP_PROTO.rawValue), octet: UInt8(IPPROTO_TCP))
      encoder.append(Int(RTA_DPORT.rawValue), bigEndian: port)
    }
  }
}
