internal import CGnuTLS
internal import Glibc
internal import ReachCore

/// A connection that speaks TLS, from its first byte to its end. What GnuTLS calls on its way ends up here.
///
/// GnuTLS is called by libmicrohttpd alone. That goes on calling it for as long as a handshake waits for the client, turn
/// after turn, since it does not take note that there is nothing to read. So a connection whose handshake waits is
/// suspended, and its socket watched by us.
@safe
final class TLSConnection {
  private enum Stage {
    /// Nothing has been read.
    case new
    /// The handshake may begin.
    case permitted
    /// It is under way.
    case shaking
    /// The client's part of it has been read.
    case done
  }

  /// The library's connection.
  let connection: OpaquePointer
  let socket: Int32
  /// Whether the library leaves it alone for now.
  var isSuspended = false

  private let session: OpaquePointer
  let credentials: TLSCredentials
  private unowned let handshakes: TLSHandshakes
  private var stage = Stage.new
  /// Whether the version that was agreed on may be: nothing is read for one that was not looked at.
  private var isAccepted = false

  init(
    _ connection: OpaquePointer, session: OpaquePointer, socket: Int32, _ credentials: TLSCredentials,
    _ handshakes: TLSHandshakes
  ) {
    unsafe self.connection = connection
    unsafe self.session = session
    self.socket = socket
    self.credentials = credentials
    self.handshakes = handshakes
  }

  /// Makes the session ours. Returns whether GnuTLS agrees. This value must outlive the session.
  func begin() -> Bool {
    unsafe credentials.begin(session, socket: socket, owner: Unmanaged.passUnretained(self).toOpaque())
  }

  /// Lets the handshake begin at the next read.
  func permit() { if stage == .new { stage = .permitted } }

  // MARK: Reading

  /// What recv(2) does, with the error told to GnuTLS.
  fileprivate func read(into buffer: UnsafeMutableRawPointer, _ size: Int) -> Int {
    if stage == .new, !handshakes.mayBegin(self) { return fail(EAGAIN) }
    if stage == .new || stage == .permitted {
      if isPlain { return fail(ECONNRESET) }
      stage = .shaking
    }
    if stage == .shaking, unsafe CGnuTLS_is_last_read(session) != 0 {
      stage = .done
      guard isAccepted else { return fail(ECONNRESET) }
    }
    let count = unsafe recv(socket, buffer, size, 0)
    if count >= 0 { return count }
    let code = errno
    if code == EAGAIN, stage == .shaking, !handshakes.awaitClient(self) { return 0 }
    return fail(code)
  }

  private func fail(_ code: Int32) -> Int {
    unsafe gnutls_transport_set_errno(session, code)
    return -1
  }

  /// Whether the client speaks HTTP without TLS, which it is then told, as far as one attempt can.
  private var isPlain: Bool {
    var first: UInt8 = 0
    // Every handshake begins with a record of type 22 (RFC 8446 section 5.1).
    guard unsafe recv(socket, &first, 1, Int32(MSG_PEEK)) == 1, first != 22 else { return false }
    guard first >= 0x41, first <= 0x7a else { return true }
    discardInput()
    let text = "this port speaks HTTPS; ask with https://\n"
    var answer = Array(
      ("HTTP/1.0 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n"
        + "Content-Length: \(text.utf8.count)\r\n\r\n" + text).utf8)
    _ = unsafe send(socket, &answer, answer.count, Int32(MSG_NOSIGNAL))
    return true
  }

  /// Reads what there is. Left unread it would make the kernel throw away what has just been sent, when it closes.
  private func discardInput() {
    var scrap = [UInt8](repeating: 0, count: 4096)
    for _ in 0..<16 where unsafe recv(socket, &scrap, scrap.count, 0) < scrap.count { break }
  }

  // MARK: Decisions

  /// Once the client has said which versions it speaks. Returns 0, or GnuTLS's error.
  fileprivate func checkVersion() -> Int32 {
    guard unsafe credentials.narrow(session) else { return refuse(GNUTLS_A_PROTOCOL_VERSION) }
    isAccepted = true
    return 0
  }

  /// Once the client has sent its certificate, or none. Returns 0, or GnuTLS's error.
  fileprivate func checkClient() -> Int32 {
    let kind = credentials.clients
    guard unsafe CGnuTLS_has_certificate(session) != 0 else {
      if !kind.isRequired { return 0 }
      let isNew = unsafe CGnuTLS_version(session) >= TLSSettings.Version.tls13.number
      return refuse(isNew ? GNUTLS_A_CERTIFICATE_REQUIRED : GNUTLS_A_HANDSHAKE_FAILURE)
    }
    if kind.isVerified, unsafe CGnuTLS_is_trusted(session) == 0 { return refuse(GNUTLS_A_UNKNOWN_CA) }
    if let names = credentials.clientNames, unsafe !ClientNames(names).hasOne(of: session) {
      return refuse(GNUTLS_A_BAD_CERTIFICATE)
    }
    return 0
  }

  /// Tells the client why; the library says nothing when a handshake fails.
  private func refuse(_ alert: gnutls_alert_description_t) -> Int32 {
    discardInput()
    unsafe CGnuTLS_warn(session, Int32(bitPattern: alert.rawValue))
    return GNUTLS_E_CERTIFICATE_ERROR
  }
}

// MARK: What GnuTLS calls

/// Called for each read; the pointer is the connection.
func readForTLS(_ owner: UnsafeMutableRawPointer?, _ buffer: UnsafeMutableRawPointer?, _ size: Int) -> Int {
  guard let owner = unsafe owner, let buffer = unsafe buffer else { return -1 }
  return unsafe Unmanaged<TLSConnection>.fromOpaque(owner).takeUnretainedValue().read(into: buffer, size)
}

/// Called when the client's first message has been read, and the version is agreed on.
func checkHello(_ session: OpaquePointer?) -> Int32 {
  unsafe connection(of: session)?.checkVersion() ?? GNUTLS_E_INTERNAL_ERROR
}

/// Called when the client has sent its certificate, or none though it was asked for.
func checkClient(_ session: OpaquePointer?) -> Int32 {
  unsafe connection(of: session)?.checkClient() ?? GNUTLS_E_INTERNAL_ERROR
}

private func connection(of session: OpaquePointer?) -> TLSConnection? {
  guard let session = unsafe session, let owner = unsafe gnutls_transport_get_ptr(session) else { return nil }
  return unsafe Unmanaged<TLSConnection>.fromOpaque(owner).takeUnretainedValue()
}
