/// What a module with the backend `tcp` does.
public struct TCPModule: Hashable, Sendable {
  /// Which address is connected to, and from where.
  public var addressing = ModuleAddressing()
  /// What is said and heard once there is a connection, in order.
  public var exchange: [ExchangeStep] = []
  /// Whether TLS begins with the connection.
  public var usesTLS = false
  /// How TLS is done, from the beginning or from a step on.
  public var tls = TLSClientSettings()

  /// Connects, and no more.
  public init() {}
}

/// One step of a conversation: what is waited for, then what is sent, then whether TLS begins.
public struct ExchangeStep: Hashable, Sendable {
  /// A label of `probe_expect_info`.
  public struct Label: Hashable, Sendable {
    /// Its name.
    public var name: String
    /// Its value, with `${1}` for what the first group of `expect` took.
    public var value: String
    /// A label.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// Lines are read until one matches.
  public var expect: RegularExpression?
  /// Labels made of that match; nil when there are none to make.
  public var labels: [Label]?
  /// So many octets are read, and must be these. Empty: none are.
  public var expectBytes: [UInt8] = []
  /// A line that is sent, with `${1}` for what the first group of `expect` took. Empty: nothing is.
  public var send: [UInt8] = []
  /// Whether TLS begins at the end of the step.
  public var startsTLS = false

  /// Nothing.
  public init() {}
}

/// How TLS is done by a client; the keys are those of Prometheus' `tls_config`.
public struct TLSClientSettings: Hashable, Sendable {
  /// The versions of TLS.
  public enum Version: String, Hashable, Sendable, CaseIterable {
    /// RFC 2246.
    case tls10 = "TLS10"
    /// RFC 4346.
    case tls11 = "TLS11"
    /// RFC 5246.
    case tls12 = "TLS12"
    /// RFC 8446.
    case tls13 = "TLS13"
  }

  /// A file with the certificates that are trusted; nil: the system's.
  public var authorityFile: String?
  /// A file with the client's certificate, and those between it and the authority's.
  public var certificateFile: String?
  /// A file with the client's key.
  public var keyFile: String?
  /// The name that is sent and verified; nil: the target's.
  public var serverName: String?
  /// Whether any certificate will do.
  public var skipsVerification = false
  /// The oldest version that is accepted; nil: 1.2.
  public var oldest: Version?
  /// The newest version that is offered; nil: 1.3.
  public var newest: Version?

  /// The system's authorities, and nothing else.
  public init() {}
}
