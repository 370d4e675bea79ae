import ReachConfig
import ReachHTTP
import ReachTestSupport
import Testing

@testable import ReachAgent

@Suite struct WebPolicyTests {
  private typealias File = WebConfiguration

  @Test("the file and the server know the same names")
  func names() {
    #expect(File.cipherSuiteNames.sorted() == TLSSettings.CipherSuite.all.map(\.name).sorted())
    #expect(File.curveNames.sorted() == TLSSettings.Curve.allCases.map(\.rawValue).sorted())
    #expect(File.TLSVersion.allCases.map(\.rawValue) == TLSSettings.Version.allCases.map(\.rawValue))
    #expect(
      File.ClientAuthentication.allCases.map(\.rawValue) == TLSSettings.ClientAuthentication.allCases.map(\.rawValue))
  }

  @Test("what the file says reaches the server whole")
  func whole() throws {
    let text = """
      tls_server_config:
        cert: C
        key: K
        client_ca_file: /a
        client_auth_type: VerifyClientCertIfGiven
        min_version: TLS11
        max_version: TLS12
        cipher_suites: [TLS_RSA_WITH_AES_128_CBC_SHA]
        prefer_server_cipher_suites: false
        curve_preferences: [CurveP521]
      http_server_config: { headers: { X-Frame-Options: deny } }
      rate_limit: { interval: 2s, burst: 3 }
      """
    let policy = HTTPPolicy(try #require(File.parse(Array(text.utf8), file: "F").configuration))
    var tls = TLSSettings(certificate: .text("C"), key: .text("K"))
    tls.clientAuthorities = .file("/a")
    tls.clientAuthentication = .verifyIfGiven
    (tls.oldest, tls.newest) = (.tls11, .tls12)
    tls.cipherSuites = [.init(name: "TLS_RSA_WITH_AES_128_CBC_SHA")].compactMap { $0 }
    tls.prefersOwnOrder = false
    tls.curves = [.p521]
    #expect(policy.tls == tls)
    #expect(policy.headers == [HTTPRequest.Field("X-Frame-Options", "deny")])
    #expect(policy.rateLimit == HTTPPolicy.RateLimit(interval: .seconds(2), burst: 3))
    #expect(policy.users.isEmpty)
  }

  @Test("a certificate that is written out and is none is an error at its place")
  func place() throws {
    let folder = try TestFolder()
    let file = try folder.write("tls_server_config:\n  cert: |\n    junk\n  key: junk\n", to: "web.yaml")
    let web = WebPolicy(readingFile: file)
    #expect(web.policy == nil)
    #expect(web.errors.map(\.description).first?.hasPrefix("\(file):2:9: error: this is no certificate in PEM") == true)
    #expect(web.files == [file])
  }
}
