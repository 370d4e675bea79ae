internal import CReachTLSClient
internal import ReachConfig
internal import ReachCore
internal import ReachIO

/// TLS over a connection, by GnuTLS. Isolation: from a task on the event loop, one call at a time.
@safe
final class TLSStream: ByteStream {
  private let plain: PlainStream
  /// GnuTLS goes on using them.
  private let credentials: LoadedCredentials
  nonisolated(unsafe) private let session: OpaquePointer

  private init(_ plain: PlainStream, _ credentials: LoadedCredentials, _ session: OpaquePointer) {
    self.plain = plain
    self.credentials = credentials
    unsafe self.session = session
  }

  // By now the socket's number may be another's.
  deinit { unsafe CReachTLS_end(session) }

  /// Tells the peer that nothing more will be said. Call it before the socket is closed.
  func sayGoodbye() { unsafe CReachTLS_bye(session) }

  /// Shakes hands with the peer, which must be `name` unless the settings say that anybody will do. Throws what kept
  /// either side from it.
  static func begin(
    over plain: PlainStream, _ settings: TLSClientSettings, name: String, _ credentials: LoadedCredentials
  ) async throws(StreamFailure) -> TLSStream {
    var error = TLSErrorText()
    let session = unsafe error.withBuffer { buffer, size in
      unsafe CReachTLS_begin(
        credentials.handle, plain.socket.number, name.hasSuffix(".") ? String(name.dropLast()) : name,
        settings.skipsVerification ? 0 : 1, priority(settings), buffer, size)
    }
    guard let session = unsafe session else { throw .tls(error.text) }
    let stream = unsafe TLSStream(plain, credentials, session)
    while true {
      let code = unsafe Int(CReachTLS_handshake(session))
      if code == 0 { return stream }
      try await stream.wait(after: code)
    }
  }

  /// The versions as GnuTLS has them (gnutls_priority_init(3)); from 1.2 on where nothing is said, as Go has it.
  private static func priority(_ settings: TLSClientSettings) -> String {
    let versions = TLSClientSettings.Version.allCases.filter {
      $0.rawValue >= (settings.oldest ?? .tls12).rawValue && $0.rawValue <= (settings.newest ?? .tls13).rawValue
    }
    let names = versions.map { version in
      switch version {
      case .tls10: "+VERS-TLS1.0"
      case .tls11: "+VERS-TLS1.1"
      case .tls12: "+VERS-TLS1.2"
      case .tls13: "+VERS-TLS1.3"
      }
    }
    return (["NORMAL:-VERS-ALL"] + names).joined(separator: ":")
  }

  func read(upTo count: Int) async throws(StreamFailure) -> [UInt8] {
    try await pause()
    var octets = [UInt8](repeating: 0, count: max(1, count))
    while true {
      let code = unsafe octets.withUnsafeMutableBufferPointer { buffer in
        unsafe CReachTLS_read(session, buffer.baseAddress, buffer.count)
      }
      if code >= 0 { return Array(octets.prefix(code)) }
      try await wait(after: code)
    }
  }

  func write(_ octets: [UInt8]) async throws(StreamFailure) {
    var sent = 0
    while sent < octets.count {
      let code = unsafe octets[sent...].withUnsafeBufferPointer { buffer in
        unsafe CReachTLS_write(session, buffer.baseAddress, buffer.count)
      }
      if code >= 0 { sent += code } else { try await wait(after: code) }
    }
  }

  func pause() async throws(StreamFailure) { try await plain.pause() }

  private func wait(after code: Int) async throws(StreamFailure) {
    switch code {
    case Int(CReachTLS_wants_read): try await plain.wait(for: .readable)
    case Int(CReachTLS_wants_write): try await plain.wait(for: .writable)
    default:
      var error = TLSErrorText()
      unsafe error.withBuffer { unsafe CReachTLS_explain(session, $0, $1) }
      throw unsafe CReachTLS_is_refused(session) != 0 ? .refused(error.text) : .tls(error.text)
    }
  }

  /// Enters what is known of the peer and its certificates.
  func describe(into metrics: inout ProbeMetrics) {
    guard let peer = unsafe CReachTLS_describe(session) else { return }
    defer { unsafe CReachTLS_forget(peer) }
    metrics.set(.earliestExpiry, unsafe Double(CReachTLS_earliest_expiry(peer)))
    // Go's time of nothing, which blackbox_exporter shows where no chain has been verified.
    metrics.set(.chainExpiry, unsafe Double(CReachTLS_chain_expiry(peer, -62_135_596_800)))
    let version =
      switch unsafe CReachTLS_version(peer) {
      case 0x0301: "TLS 1.0"
      case 0x0302: "TLS 1.1"
      case 0x0303: "TLS 1.2"
      case 0x0304: "TLS 1.3"
      default: "unknown"
      }
    metrics.set(.tlsVersion, 1, [Label(name: "version", value: version)])
    let texts = [
      ("fingerprint_sha256", CReachTLS_fingerprint), ("subject", CReachTLS_subject), ("issuer", CReachTLS_issuer),
      ("subjectalternative", CReachTLS_names), ("serialnumber", CReachTLS_serial),
    ]
    let labels = texts.map { name, which in
      Label(name: name, value: unsafe String(cString: CReachTLS_text(peer, Int32(which))))
    }
    metrics.set(.chainInfo, 1, labels)
  }
}

extension ProbeFamily {
  static let earliestExpiry = ProbeFamily(
    "probe_ssl_earliest_cert_expiry", help: "Returns last SSL chain expiry in unixtime")
  static let chainExpiry = ProbeFamily(
    "probe_ssl_last_chain_expiry_timestamp_seconds", help: "Returns last SSL chain expiry in timestamp")
  static let chainInfo = ProbeFamily("probe_ssl_last_chain_info", help: "Contains SSL leaf certificate information")
  static let tlsVersion = ProbeFamily(
    "probe_tls_version_info", help: "Returns the TLS version used or NaN when unknown")
}
