internal import ReachConfig
internal import ReachHTTP

/// What a file for `web.config` comes to, certificates and keys included.
struct WebPolicy: Sendable {
  /// The file's path.
  let file: String
  /// What holds for requests; nil when there is an error among the problems.
  let policy: HTTPPolicy?
  /// Every problem, in the order of the file. No secret is in any.
  let problems: [ConfigurationProblem]
  /// The files that it depends on, itself among them.
  let files: [String]

  /// The problems that keep it from being used.
  var errors: [ConfigurationProblem] { problems.filter { $0.severity == .error } }

  /// Reads the file, and those that it names. Blocks until that has been done.
  init(readingFile file: String) {
    let result = WebConfiguration.read(file: file)
    self.file = file
    guard let configuration = result.configuration else {
      policy = nil
      problems = result.problems
      files = [file]
      return
    }
    var policy = HTTPPolicy(configuration)
    var found: [ConfigurationProblem] = []
    do throws(TLSProblem) {
      if let read = try policy.tls?.read() {
        policy.tls = read.settings
        found = read.warnings.map { configuration.problem(.warning, $0) }
      }
    } catch {
      found.append(configuration.problem(.error, error))
    }
    files = [file] + configuration.files
    problems = (result.problems + found).sorted { ($0.line, $0.column) < ($1.line, $1.column) }
    self.policy = found.contains { $0.severity == .error } ? nil : policy
  }
}

extension WebConfiguration {
  /// A problem of TLS, at the place of the key that it is about.
  fileprivate func problem(
    _ severity: ConfigurationProblem.Severity, _ problem: TLSProblem
  ) -> ConfigurationProblem {
    let key: Key =
      switch problem.part {
      case .certificate: .certificate
      case .key: .key
      case .clientAuthorities: .clientAuthorities
      case .cipherSuites: .cipherSuites
      case .other: .tls
      }
    return self.problem(severity, at: key, problem.description)
  }
}

extension HTTPPolicy {
  /// What the file says, for the server.
  init(_ configuration: WebConfiguration) {
    self.init()
    tls = configuration.tls.map(TLSSettings.init)
    headers = configuration.headers.map { HTTPRequest.Field($0.name, $0.value) }
    users = configuration.users.reduce(into: [:]) { $0[$1.name] = $1.hash }
    rateLimit = configuration.rateLimit.map { RateLimit(interval: $0.interval, burst: $0.burst) }
  }
}

extension TLSSettings {
  /// What the file says. Both sides know the same names, which a test holds them to.
  init(_ tls: WebConfiguration.TLS) {
    self.init(certificate: Material(tls.certificate), key: Material(tls.key))
    clientAuthorities = tls.clientAuthorities.map(Material.init)
    clientAuthentication =
      ClientAuthentication(rawValue: tls.clientAuthentication.rawValue) ?? .requireAndVerify
    clientNames = tls.clientNames
    oldest = Version(rawValue: tls.oldest.rawValue) ?? .tls13
    newest = Version(rawValue: tls.newest.rawValue) ?? .tls13
    cipherSuites = tls.cipherSuites.compactMap { CipherSuite(name: $0) }
    prefersOwnOrder = tls.prefersOwnOrder
    curves = tls.curves.compactMap { Curve(rawValue: $0) }
  }
}

extension TLSSettings.Material {
  fileprivate init(_ material: WebConfiguration.Material) {
    switch material {
    case .file(let path): self = .file(path)
    case .text(let text): self = .text(text)
    }
  }
}
