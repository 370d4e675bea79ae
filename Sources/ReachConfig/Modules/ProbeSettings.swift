public import ReachCore

/// What `/probe` may be asked for, and how it then probes.
public struct ProbeSettings: Hashable, Sendable {
  /// The modules, in the order of the file; each name is there once.
  public var modules: [ConfiguredModule] = []
  /// The module of a request that names none; one of `modules`.
  public var defaultModule: String?
  /// What may be probed beside the declared targets.
  public var allow: [AllowRule] = []

  /// No modules, and nothing allowed.
  public init() {}

  /// The module of that name.
  public func module(_ name: String) -> ConfiguredModule? { modules.first { $0.name == name } }
}

/// One way of probing what a request names.
public struct ConfiguredModule: Hashable, Sendable {
  /// What it does.
  public enum Kind: Hashable, Sendable {
    /// Connects, and may hold a conversation.
    case tcp(TCPModule)
    /// Asks the target, as a name server, for something.
    case dns(DNSModule)
    /// Runs one round of that backend, with what the backend needs below it.
    case round(ConfiguredProbe)
  }

  /// Its name.
  public var name: String
  /// How long a probe may take; nil: as long as whoever asks will wait.
  public var timeout: Duration?
  /// What it does.
  public var kind: Kind

  /// A module.
  public init(name: String, timeout: Duration? = nil, kind: Kind) {
    self.name = name
    self.timeout = timeout
    self.kind = kind
  }

  /// The backend's name as the configuration has it.
  public var backend: String {
    switch kind {
    case .tcp: "tcp"
    case .dns: "dns"
    case .round(let probe): probe.backend
    }
  }
}

/// Which of a name's addresses is probed, and from where.
public struct ModuleAddressing: Hashable, Sendable {
  /// The family that is preferred.
  public var preferred: IPAddress.Family = .ipv6
  /// Whether the other family will do when the name has no address of the preferred one.
  public var allowsOtherFamily = true
  /// The address of this host that the socket is bound to.
  public var source: IPAddress?

  /// What blackbox_exporter does when nothing is said.
  public init() {}
}
