/// What `web.config` says: TLS, passwords and headers, in the format of the Prometheus project's exporter-toolkit
/// (https://github.com/prometheus/exporter-toolkit/blob/master/docs/web-configuration.md).
///
/// It holds secrets: neither it nor a part of it may be written anywhere.
public struct WebConfiguration: Hashable, Sendable {
  /// Who serves, and who may connect; nil: without TLS.
  public var tls: TLS?
  /// Fields for the header of every answer.
  public var headers: [Header] = []
  /// Who may ask; empty: everybody.
  public var users: [User] = []
  /// How many requests are answered; nil: all.
  public var rateLimit: RateLimit?

  var file = ""
  var places: [Key: TextPosition] = [:]

  /// Nothing but the defaults.
  public init() {}

  /// A certificate, a key or authorities, in PEM.
  public enum Material: Hashable, Sendable {
    /// In the file at this path.
    case file(String)
    /// Written out.
    case text(String)

    /// The file; nil for what is written out.
    public var file: String? { if case .file(let path) = self { path } else { nil } }
  }

  /// The settings of `tls_server_config`.
  public struct TLS: Hashable, Sendable {
    /// The certificate, and those that lead to its authority.
    public var certificate: Material
    /// The key that goes with it.
    public var key: Material
    /// The authorities that clients' certificates are from.
    public var clientAuthorities: Material?
    /// What is asked of clients.
    public var clientAuthentication: ClientAuthentication = .none
    /// The names of which a client's certificate must have one; nil: any name.
    public var clientNames: [String]?
    /// The oldest version that is spoken.
    public var oldest: TLSVersion = .tls12
    /// The newest.
    public var newest: TLSVersion = .tls13
    /// Cipher suites of TLS 1.2 and before, as the standards call them; empty: the usual ones.
    public var cipherSuites: [String] = []
    /// Whether their order is the server's to choose.
    public var prefersOwnOrder = true
    /// Elliptic curves in their order, as the toolkit calls them; empty: the usual ones.
    public var curves: [String] = []
  }

  /// What is asked of clients; the names are those of Go's crypto/tls.
  public enum ClientAuthentication: String, Hashable, Sendable, CaseIterable {
    /// Nothing.
    case none = "NoClientCert"
    /// A certificate, which need not come and is not looked at.
    case request = "RequestClientCert"
    /// A certificate, of whomever.
    case requireAny = "RequireAnyClientCert"
    /// A certificate need not come, but must be of an authority's if it does.
    case verifyIfGiven = "VerifyClientCertIfGiven"
    /// A certificate of an authority's.
    case requireAndVerify = "RequireAndVerifyClientCert"
  }

  /// A version of TLS, as the toolkit calls it.
  public enum TLSVersion: String, Hashable, Sendable, CaseIterable, Comparable {
    /// TLS 1.0, long broken.
    case tls10 = "TLS10"
    /// TLS 1.1, long broken.
    case tls11 = "TLS11"
    /// TLS 1.2.
    case tls12 = "TLS12"
    /// TLS 1.3.
    case tls13 = "TLS13"

    /// By age.
    public static func < (left: TLSVersion, right: TLSVersion) -> Bool { left.rawValue < right.rawValue }
  }

  /// A field for the header of every answer.
  public struct Header: Hashable, Sendable {
    /// Its name.
    public var name: String
    /// Its value.
    public var value: String
  }

  /// Somebody who may ask.
  public struct User: Hashable, Sendable {
    /// The name.
    public var name: String
    /// The password's bcrypt hash.
    public var hash: String
  }

  /// How many requests are answered, by a token bucket.
  public struct RateLimit: Hashable, Sendable {
    /// One in this time on the average.
    public var interval: Duration
    /// So many at once.
    public var burst: Int
  }

  /// Something in the file that may turn out to be wrong when it is used.
  public enum Key: Hashable, Sendable {
    /// `cert` or `cert_file`.
    case certificate
    /// `key` or `key_file`.
    case key
    /// `client_ca` or `client_ca_file`.
    case clientAuthorities
    /// `cipher_suites`.
    case cipherSuites
    /// `tls_server_config` as a whole.
    case tls
  }

  /// A problem at the place of that key.
  public func problem(
    _ severity: ConfigurationProblem.Severity, at key: Key, _ message: String
  ) -> ConfigurationProblem {
    let place = places[key] ?? places[.tls] ?? .start
    return ConfigurationProblem(severity, file: file, line: place.line, column: place.column, message: message)
  }

  /// The files that it names.
  public var files: [String] {
    guard let tls else { return [] }
    return [tls.certificate.file, tls.key.file, tls.clientAuthorities?.file].compactMap { $0 }
  }
}

/// What a file for `web.config` comes to.
public struct WebConfigurationResult: Hashable, Sendable {
  /// What it says; nil when there is an error among the problems.
  public let configuration: WebConfiguration?
  /// Every problem, in the order of the file.
  public let problems: [ConfigurationProblem]
}

extension WebConfiguration {
  /// Reads the file at this path. Blocks until that has been done; a file that cannot be read is a problem too.
  public static func read(file: String) -> WebConfigurationResult {
    do throws(ConfigurationFileError) {
      return parse(try ConfigurationDocument.bytes(ofFile: file, flag: "web.config"), file: file)
    } catch {
      let problem = ConfigurationProblem(.error, file: file, line: 1, column: 1, message: error.message)
      return WebConfigurationResult(configuration: nil, problems: [problem])
    }
  }

  /// Reads the bytes of a file; `file` is its path, and relative paths in it begin in its folder.
  public static func parse(_ bytes: [UInt8], file: String) -> WebConfigurationResult {
    let problems = ProblemList(file: file)
    var configuration = WebConfiguration()
    do throws(YAMLText.Refusal) {
      let tree = YAMLComposer.compose(try YAMLText(bytes), problems: problems)
      configuration = WebConfigurationReader(problems: problems, file: file).read(tree?.root)
    } catch {
      problems.error(error.message, at: error.position)
    }
    let sorted = problems.sorted
    let hasErrors = sorted.contains { $0.severity == .error }
    return WebConfigurationResult(configuration: hasErrors ? nil : configuration, problems: sorted)
  }
}

extension WebConfiguration {
  /// The suites that Go's crypto/tls has, or had when such files were written.
  public static let cipherSuiteNames = [
    "TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "TLS_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_RSA_WITH_AES_256_GCM_SHA384", "TLS_RSA_WITH_AES_128_CBC_SHA", "TLS_RSA_WITH_AES_256_CBC_SHA",
  ]
  /// The curves that the toolkit knows.
  public static let curveNames = ["CurveP256", "CurveP384", "CurveP521", "X25519"]
}
