/// What is offered to clients, in the language of GnuTLS (https://gnutls.org/manual/html_node/Priority-Strings.html).
///
/// The settings know suites of TLS 1.2 as wholes and leave those of TLS 1.3 alone, while GnuTLS knows ciphers, which it
/// allows in every version. So there is a string for each, of which one is chosen once the version is agreed on.
struct TLSPriorities: Hashable {
  /// How a certificate's key signs.
  enum KeyKind: Hashable {
    case rsa, elliptic, other
  }

  /// Until the client has said which versions it speaks. Older ones than are allowed are among them, so that a client that
  /// speaks nothing newer can be told so.
  let beginning: String
  /// With TLS 1.2 and before; nil when no suite suits the certificate, or TLS 1.3 alone is spoken.
  let older: String?
  /// With TLS 1.3; nil when that is not spoken.
  let newer: String?

  /// The strings for a certificate whose key is of that kind.
  init(_ settings: TLSSettings, key: KeyKind) {
    let rest = Self.groups(settings.curves) + (settings.prefersOwnOrder ? ":%SERVER_PRECEDENCE" : "")
    beginning = "NORMAL" + Self.versions(.tls10, settings.newest) + rest
    newer =
      settings.newest >= .tls13
      ? "NORMAL:-VERS-ALL:+VERS-TLS1.3:-CIPHER-ALL:+AES-128-GCM:+AES-256-GCM:+CHACHA20-POLY1305:-MAC-ALL:+AEAD" + rest
      : nil
    let suites = Self.suites(settings.cipherSuites, for: key)
    let newest = min(settings.newest, .tls12)
    guard settings.oldest <= newest, !suites.isEmpty else {
      older = nil
      return
    }
    func list(_ name: String, _ values: [String]) -> String {
      var seen: Set<String> = []
      return ":-\(name)-ALL" + values.filter { seen.insert($0).inserted }.map { ":+" + $0 }.joined()
    }
    older =
      "NORMAL" + Self.versions(settings.oldest, newest) + list("KX", suites.compactMap(\.keyExchange))
      + list("CIPHER", suites.map(\.cipher)) + list("MAC", suites.map(\.mac)) + rest
  }

  private static func versions(_ oldest: TLSSettings.Version, _ newest: TLSSettings.Version) -> String {
    let names: [(TLSSettings.Version, String)] = [
      (.tls13, "TLS1.3"), (.tls12, "TLS1.2"), (.tls11, "TLS1.1"), (.tls10, "TLS1.0"),
    ]
    return ":-VERS-ALL"
      + names.filter { $0.0 >= oldest && $0.0 <= newest }.map { ":+VERS-" + $0.1 }.joined()
  }

  private static func groups(_ curves: [TLSSettings.Curve]) -> String {
    let curves = curves.isEmpty ? TLSSettings.Curve.allCases : curves
    let names = curves.map { curve in
      switch curve {
      case .x25519: "X25519"
      case .p256: "SECP256R1"
      case .p384: "SECP384R1"
      case .p521: "SECP521R1"
      }
    }
    return ":-GROUP-ALL" + names.map { ":+GROUP-" + $0 }.joined()
  }

  /// Those of the suites that a certificate with such a key can serve. Which leaves the exchange by RSA beside that by
  /// ECDHE as the one pair that GnuTLS cannot be told ciphers for apart.
  private static func suites(_ wanted: [TLSSettings.CipherSuite], for key: KeyKind) -> [TLSSettings.CipherSuite] {
    let usual = TLSSettings.CipherSuite.all.filter { $0.keyExchange?.hasPrefix("ECDHE") == true }
    return (wanted.isEmpty ? usual : wanted).filter { suite in
      switch key {
      case .rsa: suite.keyExchange == "ECDHE-RSA" || suite.keyExchange == "RSA"
      case .elliptic: suite.keyExchange == "ECDHE-ECDSA"
      case .other: suite.keyExchange != nil
      }
    }
  }
}
