internal import CReachTLSClient
internal import Glibc
internal import ReachConfig
public import ReachIO

/// What modules trust and are known by, read from files when first needed and again when those have changed: the system's
/// authorities take some milliseconds to read.
///
/// Isolation: on the event loop.
public final class TLSClientCredentials: Sendable {
  private struct Key: Hashable {
    let authorities: String?
    let certificate: String?
    let key: String?
  }

  private struct Kept {
    let stamps: [FileStamp]
    let loaded: LoadedCredentials
  }

  /// Where Debian's ca-certificates has the system's authorities: a change of them is a change of this file.
  private static let systemAuthorities = "/etc/ssl/certs/ca-certificates.crt"
  private static let most = 64

  private let kept: LoopConfined<[Key: Kept]>

  /// Nothing has been read.
  public init(on loop: EventLoop) { kept = LoopConfined([:], on: loop) }

  /// What these settings name. Throws what is wrong with their files.
  func loaded(_ settings: TLSClientSettings) throws(StreamFailure) -> LoadedCredentials {
    let key = Key(
      authorities: settings.authorityFile, certificate: settings.certificateFile, key: settings.keyFile)
    let files = [key.authorities ?? Self.systemAuthorities, key.certificate, key.key].compactMap { $0 }
    let stamps = files.map(FileStamp.init)
    if let known = kept.withState({ $0[key] }), known.stamps == stamps { return known.loaded }
    let loaded = try LoadedCredentials(
      authorities: key.authorities, certificate: key.certificate, key: key.key)
    kept.withState { kept in
      if kept.count >= Self.most { kept = [:] }
      kept[key] = Kept(stamps: stamps, loaded: loaded)
    }
    return loaded
  }
}

/// What tells that a file has changed (stat(2)).
private struct FileStamp: Hashable {
  let device: UInt64
  let node: UInt64
  let size: Int64
  let seconds: Int64
  let nanoseconds: Int64

  init(_ path: String) {
    var found = stat()
    if unsafe stat(path, &found) != 0 { found = stat() }
    device = UInt64(found.st_dev)
    node = UInt64(found.st_ino)
    size = Int64(found.st_size)
    seconds = Int64(found.st_mtim.tv_sec)
    nanoseconds = Int64(found.st_mtim.tv_nsec)
  }
}

/// Certificates and a key as GnuTLS has them. Not changed once they are loaded.
@safe
final class LoadedCredentials: Sendable {
  nonisolated(unsafe) let handle: OpaquePointer

  init(authorities: String?, certificate: String?, key: String?) throws(StreamFailure) {
    var error = TLSErrorText()
    let loaded = unsafe withOptionalText(authorities) { authorities in
      unsafe withOptionalText(certificate) { certificate in
        unsafe withOptionalText(key) { key in
          unsafe error.withBuffer { unsafe CReachTLS_load(authorities, certificate, key, $0, $1) }
        }
      }
    }
    guard let loaded = unsafe loaded else { throw .tls(error.text) }
    unsafe handle = loaded
  }

  deinit { unsafe CReachTLS_unload(handle) }
}

private func withOptionalText<Result>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
  guard let text else { return body(nil) }
  return unsafe text.withCString { unsafe body($0) }
}

/// Room for what a C function says is wrong.
struct TLSErrorText {
  private var bytes = [CChar](repeating: 0, count: 512)

  /// Lends the room with its size.
  mutating func withBuffer<Result>(_ body: (UnsafeMutablePointer<CChar>?, Int) -> Result) -> Result {
    unsafe bytes.withUnsafeMutableBufferPointer { unsafe body($0.baseAddress, $0.count) }
  }

  /// What was written, on one line.
  var text: String {
    let octets = bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return String(decoding: octets, as: UTF8.self)
  }
}
