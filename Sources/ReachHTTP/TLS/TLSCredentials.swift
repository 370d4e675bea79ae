internal import CGnuTLS
internal import ReachCore
internal import ReachIO

/// A certificate with its key, the authorities of clients' certificates and what is offered, ready for GnuTLS. Never
/// changes; a session keeps it for as long as that lasts.
final class TLSCredentials {
  /// What is asked of clients.
  let clients: TLSSettings.ClientAuthentication
  /// The names of which a client's certificate must have one.
  let clientNames: [String]?
  /// The version, as on the wire, below which nobody gets in.
  let oldestVersion: Int32
  /// How long after one handshake another may begin, when they come without end: ten times what one costs.
  let handshakeInterval: Duration
  /// What may not be as it is meant.
  let warnings: [TLSProblem]

  private let handle: Handle
  private let beginning: Handle
  private let older: Handle?
  private let newer: Handle?

  /// Something of GnuTLS's, and what frees it.
  @safe
  private final class Handle {
    let pointer: OpaquePointer
    private let free: (OpaquePointer?) -> Void
    init(_ pointer: OpaquePointer, free: @escaping (OpaquePointer?) -> Void) {
      unsafe self.pointer = pointer
      unsafe self.free = free
    }
    deinit { unsafe free(pointer) }
  }

  /// Reads the files and checks all there is. Throws why it cannot be used.
  init(_ settings: TLSSettings) throws(TLSProblem) {
    let certificate = Array(try PEMFile.text(of: settings.certificate, .certificate, "the certificate").utf8)
    let key = Array(try PEMFile.text(of: settings.key, .key, "the key").utf8)
    let found = try Self.look(certificate)
    try Self.lookAtKey(key)
    handle = try Self.makeHandle()
    try unsafe Self.setPair(handle.pointer, certificate, key)
    if settings.clientAuthentication.isVerified { try Self.setAuthorities(handle, settings) }
    let priorities = TLSPriorities(settings, key: found.kind)
    if !settings.cipherSuites.isEmpty, settings.oldest < .tls13, priorities.older == nil {
      throw TLSProblem(
        .cipherSuites,
        "none of these suites suits the certificate, whose key is \(found.kind == .rsa ? "an RSA" : "an elliptic") one; "
          + "write suites with _\(found.kind == .rsa ? "RSA" : "ECDSA")_, or min_version: TLS13")
    }
    beginning = try Self.priority(priorities.beginning)
    older = try priorities.older.map { text throws(TLSProblem) in try Self.priority(text) }
    newer = try priorities.newer.map { text throws(TLSProblem) in try Self.priority(text) }
    clients = settings.clientAuthentication
    clientNames = settings.clientNames
    oldestVersion = settings.oldest.number
    handshakeInterval = found.kind == .elliptic ? .milliseconds(10) : Self.interval(ofBits: found.bits)
    warnings = found.warnings
  }

  /// A signature with an RSA key of 2048 bits takes 2 ms, and eight times that with a key twice as long; one on a curve takes
  /// a twentieth of a millisecond.
  private static func interval(ofBits bits: Int) -> Duration {
    let size = Double(max(1_024, min(bits, 16_384))) / 2_048
    return .nanoseconds(Int64(20_000_000 * size * size * size))
  }

  /// Begins a session with these credentials; see `CGnuTLS_take`. Returns whether GnuTLS agrees.
  func begin(_ session: OpaquePointer, socket: Int32, owner: UnsafeMutableRawPointer) -> Bool {
    unsafe CGnuTLS_take(
      session, handle.pointer, beginning.pointer, socket, owner, readForTLS, checkHello, checkClient,
      clients == .none ? 0 : 1, Self.handshakeLimit) == 0
  }

  /// A message of a client's in a handshake is not longer than this, its certificates included.
  private static let handshakeLimit = 32 * 1024

  /// Offers what belongs to the version that has been agreed on. Returns whether that version may be.
  func narrow(_ session: OpaquePointer) -> Bool {
    let version = unsafe CGnuTLS_version(session)
    guard version >= oldestVersion else { return false }
    guard let priority = version >= TLSSettings.Version.tls13.number ? newer : older else { return false }
    return unsafe gnutls_priority_set(session, priority.pointer) >= 0
  }

  // MARK: Reading

  private static func look(
    _ certificate: [UInt8]
  ) throws(TLSProblem) -> (kind: TLSPriorities.KeyKind, bits: Int, warnings: [TLSProblem]) {
    var found = CGnuTLS_certificate()
    let code = unsafe certificate.withUnsafeBytes { unsafe CGnuTLS_look($0.baseAddress, $0.count, &found) }
    guard code >= 0 else {
      throw TLSProblem(.certificate, "this is no certificate in PEM (\(text(of: code))); name the file that holds one")
    }
    let kind: TLSPriorities.KeyKind =
      switch gnutls_pk_algorithm_t(rawValue: UInt32(bitPattern: found.algorithm)) {
      case GNUTLS_PK_RSA: .rsa
      case GNUTLS_PK_ECDSA: .elliptic
      default: .other
      }
    let now = WallClock.nanosecondsSinceEpoch() / 1_000_000_000
    var warnings: [TLSProblem] = []
    if Int64(found.expiration) < now {
      warnings.append(TLSProblem(.certificate, "the certificate has expired, and clients refuse it; renew it"))
    } else if Int64(found.activation) > now {
      warnings.append(
        TLSProblem(.certificate, "the certificate is not valid yet, and clients refuse it; look at this host's clock"))
    }
    return (kind, Int(found.bits), warnings)
  }

  private static func lookAtKey(_ key: [UInt8]) throws(TLSProblem) {
    let code = unsafe key.withUnsafeBytes { unsafe CGnuTLS_look_at_key($0.baseAddress, $0.count) }
    guard code >= 0 else {
      throw TLSProblem(
        .key, "this is no key in PEM without a password (\(text(of: code))); name the file that holds one")
    }
  }

  // MARK: GnuTLS

  private static func makeHandle() throws(TLSProblem) -> Handle {
    var credentials: OpaquePointer?
    let code = unsafe gnutls_certificate_allocate_credentials(&credentials)
    guard code >= 0, let credentials = unsafe credentials else { throw TLSProblem(.other, "TLS: \(text(of: code))") }
    return unsafe Handle(credentials, free: gnutls_certificate_free_credentials)
  }

  private static func setPair(_ handle: OpaquePointer, _ certificate: [UInt8], _ key: [UInt8]) throws(TLSProblem) {
    let code = unsafe certificate.withUnsafeBytes { certificate in
      unsafe key.withUnsafeBytes { key in
        unsafe CGnuTLS_set_pair(handle, certificate.baseAddress, certificate.count, key.baseAddress, key.count)
      }
    }
    if code == GNUTLS_E_CERTIFICATE_KEY_MISMATCH {
      throw TLSProblem(.key, "the key is not the certificate's; write the pair that was made together")
    }
    guard code >= 0 else { throw TLSProblem(.certificate, "the certificate cannot be used: \(text(of: code))") }
  }

  private static func setAuthorities(_ handle: Handle, _ settings: TLSSettings) throws(TLSProblem) {
    let count: Int32
    if let authorities = settings.clientAuthorities {
      let bytes = Array(try PEMFile.text(of: authorities, .clientAuthorities, "the clients' authority").utf8)
      count = unsafe bytes.withUnsafeBytes { unsafe CGnuTLS_trust(handle.pointer, $0.baseAddress, $0.count) }
    } else {
      count = unsafe gnutls_certificate_set_x509_system_trust(handle.pointer)
    }
    guard count > 0 else {
      let cause = count < 0 ? text(of: count) : "there is none"
      throw TLSProblem(
        .clientAuthorities, "these are no certificates of authorities in PEM (\(cause)); name the file that holds them")
    }
  }

  private static func priority(_ text: String) throws(TLSProblem) -> Handle {
    var priority: OpaquePointer?
    let code = unsafe gnutls_priority_init(&priority, text, nil)
    guard code >= 0, let priority = unsafe priority else {
      throw TLSProblem(.cipherSuites, "this system's GnuTLS does not offer that: \(Self.text(of: code)); allow more")
    }
    return unsafe Handle(priority, free: gnutls_priority_deinit)
  }

  private static func text(of code: Int32) -> String {
    unsafe gnutls_strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
  }
}
