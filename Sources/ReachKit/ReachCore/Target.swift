/// Something whose reachability is watched, as the configuration declares it.
public struct Target: Hashable, Sendable {
  /// What kind of thing it is, with what names it.
  public enum Kind: Hashable, Sendable {
    /// A name, resolved by the dns probe.
    case host(HostName)
    /// One address, never resolved.
    case address(IPAddress)
    /// Whether this host, by its own address `local`, can reach `remote`.
    indirect case pair(local: IPAddress, remote: IPAddress)
    /// "Can this host reach the internet at all": the default path; no packet is sent.
    case defaultPath
    /// 169.254/16 on the interface of this name.
    case linkLocal(interface: String)
    /// The state of the interface of this name.
    case interface(String)
  }

  /// Unique within a configuration.
  public var name: String
  /// What it is.
  public var kind: Kind
  /// The port that the target names, if it names one.
  public var port: UInt16?
  /// Its binding and its policy, which targets that have the same may share.
  public var settings: TargetSettings
  /// The user's own labels, in the order of their names.
  public var labels: [Label]

  /// A target; nothing is checked here, the configuration loader has done so.
  public init(
    name: String, kind: Kind, port: UInt16? = nil, source: SourceBinding = SourceBinding(),
    policy: TargetPolicy = TargetPolicy(), labels: [Label] = []
  ) {
    self.name = name
    self.kind = kind
    self.port = port
    settings = TargetSettings(source: source, policy: policy)
    self.labels = labels
  }

  /// What probes bind to, and what the route lookup therefore asks with.
  public var source: SourceBinding {
    get { settings.source }
    set { settings = TargetSettings(source: newValue, policy: settings.policy) }
  }

  /// The rules for judging it.
  public var policy: TargetPolicy {
    get { settings.policy }
    set { settings = TargetSettings(source: settings.source, policy: newValue) }
  }

  /// The kind's name as the API spells it: `host`, `address`, `pair`, `default`, `link_local` or `interface`.
  public var kindName: String {
    switch kind {
    case .host: "host"
    case .address: "address"
    case .pair: "pair"
    case .defaultPath: "default"
    case .linkLocal: "link_local"
    case .interface: "interface"
    }
  }
}

/// How a target is probed and judged. Immutable and by reference, so that ten thousand targets with the same settings
/// hold them once.
public final class TargetSettings: Hashable, Sendable {
  /// What probes bind to.
  public let source: SourceBinding
  /// The rules for judging.
  public let policy: TargetPolicy

  /// Settings.
  public init(source: SourceBinding = SourceBinding(), policy: TargetPolicy = TargetPolicy()) {
    self.source = source
    self.policy = policy
  }

  /// Whether both say the same.
  public static func == (left: TargetSettings, right: TargetSettings) -> Bool {
    left === right || (left.source == right.source && left.policy == right.policy)
  }

  /// By what they say.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(source)
    hasher.combine(policy)
  }
}

/// A label that the user puts on a target's series.
public struct Label: Hashable, Sendable {
  /// A Prometheus label name.
  public let name: String
  /// Any text.
  public let value: String
  /// A label; the loader has checked the name.
  public init(name: String, value: String) {
    self.name = name
    self.value = value
  }
}

/// A host's name in the two forms it is needed in.
public struct HostName: Hashable, Sendable {
  /// The A-label form that is asked for, in lower case, without a trailing dot.
  public let query: String
  /// As people read it: U-labels.
  public let display: String
  /// Both forms.
  public init(query: String, display: String) {
    self.query = query
    self.display = display
  }
}

/// What a probe's socket is bound to. Empty: nothing.
public struct SourceBinding: Hashable, Sendable {
  /// SO_BINDTODEVICE (socket(7)); a VRF's name too.
  public var interface: String?
  /// The address given to bind(2).
  public var address: IPAddress?
  /// SO_MARK (socket(7)), which policy routing can match.
  public var mark: UInt32?

  /// A binding; nothing by default.
  public init(interface: String? = nil, address: IPAddress? = nil, mark: UInt32? = nil) {
    self.interface = interface
    self.address = address
    self.mark = mark
  }
}

/// How a target is probed and judged; the configuration's `defaults`, or what a target says instead.
public struct TargetPolicy: Hashable, Sendable {
  /// What an open or refused connection means.
  public enum TCP: String, Hashable, Sendable, CaseIterable {
    /// Only an open port is reachable.
    case service
    /// An answer of either kind proves the host.
    case host
    /// TCP decides nothing.
    case advisory
  }

  /// How several addresses of one name combine.
  public enum Addresses: String, Hashable, Sendable, CaseIterable {
    /// One reachable address is enough.
    case any
    /// Every address must be reachable.
    case all
  }

  /// From the start of one round to the start of the next.
  public var interval: Duration = .seconds(15)
  /// From a round's start to its one deadline.
  public var timeout: Duration = .seconds(5)
  /// Failures in a row of tcp, or transient ones of dns, before NotReachable. At least 1.
  public var fall: Int = 2
  /// Successes in a row before reachable again. At least 1.
  public var rise: Int = 1
  /// How a status follows from flags.
  public var statusRule: StatusRule = .afnetworking
  /// What a refused connection means.
  public var tcp: TCP = .service
  /// How several addresses combine.
  public var addresses: Addresses = .any
  /// Rounds without fresh evidence before a held status turns Unknown. At least 1.
  public var unknownAfter: Int = 3
  /// How long a link or route verdict must last before the status follows.
  public var hold: Duration = .zero
  /// Whether names use the system's search list.
  public var search: Bool = false
  /// The least time an answer of DNS is kept, whatever its TTL.
  public var resolveMin: Duration = .seconds(5)
  /// The most time an answer of DNS is kept, whatever its TTL.
  public var resolveMax: Duration = .seconds(300)

  /// The defaults that the interface documents.
  public init() {}
}
