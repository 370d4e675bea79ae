internal import Glibc
internal import ReachIO

/// A certificate authority of a test's own, made with openssl(1), gone when this value ends.
public final class TestAuthority: Sendable {
  /// A certificate and its key, as paths of files in PEM.
  public struct Pair: Sendable {
    /// The certificate.
    public let certificate: String
    /// The key.
    public let key: String
    /// Where both are, for as long as anybody has this value.
    private let folder: TestFolder

    init(_ name: String, in folder: TestFolder) {
      self.folder = folder
      certificate = "\(folder.path)/\(name).pem"
      key = "\(folder.path)/\(name).key"
    }
  }

  /// What a key signs with.
  public enum KeyKind: String, Sendable {
    /// NIST P-256, made at once.
    case elliptic = "ec"
    /// 2048 bits, which take a while.
    case rsa = "rsa:2048"
  }

  /// Whether openssl is there, or must be.
  public static let isAvailable = TestRequirements.areAllRequired || (unsafe access("/usr/bin/openssl", X_OK)) == 0

  /// The authority's own certificate, as a path.
  public let certificate: String
  private let folder: TestFolder
  private let own: Pair

  /// An authority of that name.
  public init(_ name: String = "authority") throws {
    folder = try TestFolder()
    own = Pair("authority", in: folder)
    certificate = own.certificate
    try Self.make(own, subject: name, .elliptic, [])
  }

  /// Makes a certificate with these alternative names, such as `DNS:localhost` and `IP:127.0.0.1`. It is good for servers
  /// and clients, for a day.
  public func issue(_ name: String, for names: [String], key kind: KeyKind = .elliptic) throws -> Pair {
    let pair = Pair(name, in: folder)
    var options = ["-CA", own.certificate, "-CAkey", own.key, "-addext", "basicConstraints=critical,CA:FALSE"]
    options += ["-addext", "extendedKeyUsage=serverAuth,clientAuth"]
    if !names.isEmpty { options += ["-addext", "subjectAltName=" + names.joined(separator: ",")] }
    try Self.make(pair, subject: name, kind, options)
    return pair
  }

  private static func make(_ pair: Pair, subject: String, _ kind: KeyKind, _ options: [String]) throws {
    let curve = kind == .elliptic ? ["-pkeyopt", "ec_paramgen_curve:P-256"] : []
    let result = try runProgram(
      ["openssl", "req", "-x509", "-newkey", kind.rawValue] + curve + [
        "-nodes", "-keyout", pair.key, "-out", pair.certificate, "-days", "1", "-subj", "/CN=" + subject,
      ] + options)
    if !result.isSuccess { throw TestAuthorityFailure(description: result.output) }
  }
}

/// Why openssl made no certificate.
public struct TestAuthorityFailure: Error, CustomStringConvertible {
  /// What it said.
  public let description: String
}
