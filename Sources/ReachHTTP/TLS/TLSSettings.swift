/// How connections are encrypted, and whose are taken. A plain value; it holds a key when that is written out.
public struct TLSSettings: Hashable, Sendable {
  /// The certificate, and those that lead to its authority, in PEM.
  public var certificate: Material
  /// The key that goes with it, in PEM and without a password.
  public var key: Material
  /// The authorities of clients' certificates; nil: those that this system trusts.
  public var clientAuthorities: Material?
  /// What is asked of clients.
  public var clientAuthentication = ClientAuthentication.none
  /// The names of which a client's certificate must have one, exactly: host names, mail addresses, IP addresses, URIs;
  /// nil: any name.
  public var clientNames: [String]?
  /// The oldest version that is spoken.
  public var oldest = Version.tls12
  /// The newest.
  public var newest = Version.tls13
  /// What TLS 1.2 and before may use, in this order; empty: what is good. TLS 1.3 has none but good ones.
  public var cipherSuites: [CipherSuite] = []
  /// Whether the order is ours to choose, not the client's.
  public var prefersOwnOrder = true
  /// Elliptic curves in this order; empty: the usual ones.
  public var curves: [Curve] = []

  /// TLS with that certificate and key.
  public init(certificate: Material, key: Material) {
    self.certificate = certificate
    self.key = key
  }

  /// Where something in PEM is.
  public enum Material: Hashable, Sendable {
    /// In a file, read each time that the settings are applied.
    case file(String)
    /// Here.
    case text(String)
  }

  /// What is asked of clients (Go's crypto/tls, ClientAuthType).
  public enum ClientAuthentication: String, Hashable, Sendable, CaseIterable {
    /// Nothing.
    case none = "NoClientCert"
    /// A certificate, which need not come and is not looked at.
    case request = "RequestClientCert"
    /// A certificate, of whomever.
    case requireAny = "RequireAnyClientCert"
    /// A certificate need not come, but must lead to an authority if it does.
    case verifyIfGiven = "VerifyClientCertIfGiven"
    /// A certificate that leads to an authority.
    case requireAndVerify = "RequireAndVerifyClientCert"

    var isRequired: Bool { self == .requireAny || self == .requireAndVerify }
    var isVerified: Bool { self == .verifyIfGiven || self == .requireAndVerify }
  }

  /// A version of TLS.
  public enum Version: String, Hashable, Sendable, CaseIterable, Comparable {
    /// RFC 2246.
    case tls10 = "TLS10"
    /// RFC 4346.
    case tls11 = "TLS11"
    /// RFC 5246.
    case tls12 = "TLS12"
    /// RFC 8446.
    case tls13 = "TLS13"

    /// As it is on the wire.
    var number: Int32 {
      switch self {
      case .tls10: 0x0301
      case .tls11: 0x0302
      case .tls12: 0x0303
      case .tls13: 0x0304
      }
    }

    /// By age.
    public static func < (left: Version, right: Version) -> Bool { left.number < right.number }
  }

  /// An elliptic curve, as Go's crypto/tls calls it.
  public enum Curve: String, Hashable, Sendable, CaseIterable {
    /// RFC 7748.
    case x25519 = "X25519"
    /// NIST P-256.
    case p256 = "CurveP256"
    /// NIST P-384.
    case p384 = "CurveP384"
    /// NIST P-521.
    case p521 = "CurveP521"
  }

  /// A suite of TLS 1.2 and before, or of TLS 1.3, by its name in IANA's registry.
  public struct CipherSuite: Hashable, Sendable {
    /// The name.
    public let name: String
    /// How keys are exchanged, as GnuTLS calls it; nil in TLS 1.3, where suites say nothing of that.
    let keyExchange: String?
    /// The cipher, as GnuTLS calls it.
    let cipher: String
    /// What guards against changes, as GnuTLS calls it.
    let mac: String

    /// The suite of that name; nil for one that is not offered here.
    public init?(name: String) {
      guard let suite = Self.all.first(where: { $0.name == name }) else { return nil }
      self = suite
    }

    private init(_ name: String, _ keyExchange: String?, _ cipher: String, _ mac: String = "AEAD") {
      self.name = name
      self.keyExchange = keyExchange
      self.cipher = cipher
      self.mac = mac
    }

    /// All that are offered.
    public static let all: [CipherSuite] =
      [
        CipherSuite("TLS_AES_128_GCM_SHA256", nil, "AES-128-GCM"),
        CipherSuite("TLS_AES_256_GCM_SHA384", nil, "AES-256-GCM"),
        CipherSuite("TLS_CHACHA20_POLY1305_SHA256", nil, "CHACHA20-POLY1305"),
      ] + exchanging("ECDHE_ECDSA", "ECDHE-ECDSA") + exchanging("ECDHE_RSA", "ECDHE-RSA")
      + exchanging("RSA", "RSA").filter { $0.cipher != "CHACHA20-POLY1305" }

    private static func exchanging(_ name: String, _ keyExchange: String) -> [CipherSuite] {
      [
        CipherSuite("TLS_\(name)_WITH_AES_128_GCM_SHA256", keyExchange, "AES-128-GCM"),
        CipherSuite("TLS_\(name)_WITH_AES_256_GCM_SHA384", keyExchange, "AES-256-GCM"),
        CipherSuite("TLS_\(name)_WITH_CHACHA20_POLY1305_SHA256", keyExchange, "CHACHA20-POLY1305"),
        CipherSuite("TLS_\(name)_WITH_AES_128_CBC_SHA", keyExchange, "AES-128-CBC", "SHA1"),
        CipherSuite("TLS_\(name)_WITH_AES_256_CBC_SHA", keyExchange, "AES-256-CBC", "SHA1"),
      ]
    }
  }
}

/// Why TLS cannot be had as it is set, or why it may not be as it is meant. No secret is in it.
public struct TLSProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// What it is about.
  public enum Part: Hashable, Sendable {
    /// `TLSSettings.certificate`.
    case certificate
    /// `TLSSettings.key`.
    case key
    /// `TLSSettings.clientAuthorities`.
    case clientAuthorities
    /// `TLSSettings.cipherSuites`.
    case cipherSuites
    /// None of them.
    case other
  }

  /// What it is about.
  public let part: Part
  /// For people: what is wrong, and what to do.
  public let description: String

  init(_ part: Part, _ description: String) {
    self.part = part
    self.description = description
  }
}

extension TLSSettings {
  /// The same settings with what files hold in their place, and what about them may not be as it is meant. Blocks until the
  /// files have been read. Throws why TLS cannot be had with them.
  public func read() throws(TLSProblem) -> (settings: TLSSettings, warnings: [TLSProblem]) {
    var settings = self
    settings.certificate = .text(try PEMFile.text(of: certificate, .certificate, "the certificate"))
    settings.key = .text(try PEMFile.text(of: key, .key, "the key"))
    if let authorities = clientAuthorities {
      settings.clientAuthorities = .text(
        try PEMFile.text(of: authorities, .clientAuthorities, "the clients' authority"))
    }
    return (settings, try TLSCredentials(settings).warnings)
  }
}
