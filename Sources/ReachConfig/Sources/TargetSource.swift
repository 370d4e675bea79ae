public import ReachCore
public import ReachProbe

/// One entry of `targets_from`: where targets come from while the agent runs, and what is made of them.
public struct TargetSource: Hashable, Sendable {
  /// Where the targets are found.
  public enum Place: Hashable, Sendable {
    /// In files of Prometheus's `file_sd` format.
    case files(TargetFiles)
    /// At a server of Prometheus's `http_sd` protocol.
    case http(TargetEndpoint)
    /// In the SRV records of a name (RFC 2782).
    case srv(TargetService)
  }

  /// What metrics and log lines call it; no other source has the same. Holds no secret.
  public var name: String
  /// Where the targets are found.
  public var place: Place
  /// How its targets are probed and judged.
  public var policy: TargetPolicy
  /// Its targets' probes, as far as they fit each of them; nil: the usual ones.
  public var probes: [ConfiguredProbe]?
  /// Labels of each of its targets that has none of that name, in the order of their names.
  public var labels: [Label]
}

/// Files with targets.
public struct TargetFiles: Hashable, Sendable {
  /// Paths as they were written; the last component may be a glob (glob(7)).
  public var patterns: [String]
  /// The folder that relative paths begin at: that of the configuration. Empty: the working directory.
  public var folder: String
  /// How often they are read even when nothing tells of a change.
  public var refresh: Duration

  /// How often files are read when the configuration does not say.
  public static let standardRefresh = Duration.seconds(300)

  /// The patterns from the working directory or the root.
  public var paths: [String] { patterns.map { FilePath.resolve($0, in: folder) } }
}

/// A server that is asked for targets.
public struct TargetEndpoint: Hashable, Sendable {
  /// How the agent says who it is.
  public enum Authorization: Hashable, Sendable {
    /// HTTP's basic authentication (RFC 7617); the password is the text of a file.
    case basic(username: String, passwordFile: String)
    /// A header `Authorization: TYPE CREDENTIALS`; the credentials are the text of a file.
    case credentials(type: String, file: String)
  }

  /// The files that TLS needs; each nil where the system's own will do.
  public struct TLS: Hashable, Sendable {
    /// The authorities that the server's certificate may come from, in PEM.
    public var authorityFile: String?
    /// The agent's own certificate, in PEM.
    public var certificateFile: String?
    /// The key to it, in PEM.
    public var keyFile: String?
    /// Whether the server's certificate is taken unseen.
    public var skipsVerification = false
    /// Nothing but what the system has.
    public init() {}
  }

  /// What is asked for.
  public var url: HTTPURL
  /// How often it is asked.
  public var refresh: Duration
  /// How the agent says who it is; nil: it does not.
  public var authorization: Authorization?
  /// What TLS needs.
  public var tls: TLS
  /// The folder that relative paths of files begin at: that of the configuration.
  public var folder: String

  /// How often a server is asked when the configuration does not say.
  public static let standardRefresh = Duration.seconds(60)

  /// The path of one of its files, from the working directory or the root.
  public func path(of file: String) -> String { FilePath.resolve(file, in: folder) }
}

/// A name whose SRV records are targets.
public struct TargetService: Hashable, Sendable {
  /// The name that is asked for, such as `_db._tcp.example`.
  public var name: HostName
  /// The name servers that are asked; empty: the system's.
  public var servers: [OptionEndpoint]
  /// How often it is asked; nil: when the answer's TTL is over, which counts as at least 5 s and at most 5 min.
  public var refresh: Duration?
}

/// Paths as a configuration writes them.
enum FilePath {
  /// The folder that the file at this path is in; empty for the working directory.
  static func folder(of file: String) -> String {
    guard let slash = file.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "" }
    return slash == file.startIndex ? "/" : String(file[..<slash])
  }

  /// The path from the root, or from the working directory, when it is relative to a folder.
  static func resolve(_ path: String, in folder: String) -> String {
    if path.hasPrefix("/") || folder.isEmpty { return path }
    return folder.hasSuffix("/") ? folder + path : folder + "/" + path
  }
}
