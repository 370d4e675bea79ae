/// One way to the target: an address of it, or the path without one, with what each layer saw of it.
public struct Candidate: Hashable, Sendable {
  /// What the candidate stands for.
  public enum Role: Hashable, Sendable {
    /// An address of the target.
    case target
    /// The way to the resolver, looked at because a name has no address to look at.
    case resolverPath
  }

  /// What it stands for.
  public var role: Role
  /// The address; nil for an interface.
  public var address: IPAddress?
  /// What the route probe saw; nil until it has run.
  public var route: RouteFinding?
  /// What the link probe saw of the egress interface; nil until it has run.
  public var link: LinkFinding?
  /// What the tcp probe saw; nil until it has run.
  public var tcp: TCPFinding?

  /// A candidate of which nothing has been seen.
  public init(
    _ address: IPAddress?, role: Role = .target, route: RouteFinding? = nil, link: LinkFinding? = nil,
    tcp: TCPFinding? = nil
  ) {
    self.role = role
    self.address = address
    self.route = route
    self.link = link
    self.tcp = tcp
  }
}

/// What a probe hands on. The arrays run along the context's candidates, in the same order and of the same length.
public enum Evidence: Hashable, Sendable {
  /// What was seen of each candidate's egress interface; nil where there is none to look at.
  case link([LinkFinding?])
  /// What the kernel would do for each candidate.
  case route([RouteFinding])
  /// What resolution said. Its addresses become the candidates.
  case dns(DNSFinding)
  /// What came of connecting to each candidate.
  case tcp([TCPFinding])
}

/// How one finished run of a probe counts.
public enum ProbeOutcome: Hashable, Sendable {
  /// It saw what it hoped for.
  case success
  /// It saw that something is wrong, for this reason.
  case failure(Reason)
  /// This host could not do its part.
  case error(LocalFault)
  /// It did not run: a lower layer had decided, or the run before was still going.
  case skipped

  /// The outcome's name as metrics spell it.
  public var name: String {
    switch self {
    case .success: "success"
    case .failure: "failure"
    case .error: "error"
    case .skipped: "skipped"
    }
  }

  /// The failure's or the error's reason.
  public var reason: Reason? {
    switch self {
    case .success, .skipped: nil
    case .failure(let reason): reason
    case .error(let fault): fault.reason
    }
  }
}
