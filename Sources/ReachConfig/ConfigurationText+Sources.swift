internal import ReachCore
internal import ReachProbe

extension ConfigurationText {
  /// Writes `targets_from`. No secret is in it: passwords are in files, and what a URL's query holds is hidden.
  func writeSources(_ sources: [TargetSource], to yaml: inout YAMLWriter) {
    guard !sources.isEmpty else { return }
    yaml.line("targets_from:")
    for source in sources {
      switch source.place {
      case .files(let files):
        yaml.entry("- file", YAMLWriter.list(files.patterns.map(YAMLWriter.scalar)), level: 1)
        yaml.entry("refresh", YAMLWriter.duration(files.refresh), level: 2)
      case .http(let endpoint):
        yaml.entry("- http", YAMLWriter.scalar(endpoint.url.masked), level: 1)
        yaml.entry("refresh", YAMLWriter.duration(endpoint.refresh), level: 2)
        write(endpoint, to: &yaml)
      case .srv(let service):
        yaml.entry("- srv", YAMLWriter.scalar(service.name.query), level: 1)
        if let refresh = service.refresh { yaml.entry("refresh", YAMLWriter.duration(refresh), level: 2) }
        let servers = service.servers.map { YAMLWriter.scalar(Self.text($0)) }
        if !servers.isEmpty { yaml.entry("server", YAMLWriter.list(servers), level: 2) }
      }
      yaml.entry("name", YAMLWriter.scalar(source.name), level: 2)
      if !source.labels.isEmpty {
        let labels = source.labels.map { (key: $0.name, value: YAMLWriter.scalar($0.value)) }
        yaml.entry("labels", YAMLWriter.map(labels), level: 2)
      }
      yaml.line("defaults:", level: 2)
      write(source.policy, to: &yaml, level: 3)
      guard let probes = source.probes else { continue }
      yaml.line("probes:", level: 3)
      for probe in probes { write(probe, within: source.policy.timeout, to: &yaml, level: 4) }
    }
  }

  private func write(_ endpoint: TargetEndpoint, to yaml: inout YAMLWriter) {
    switch endpoint.authorization {
    case .basic(let username, let file)?:
      let entries = [("username", YAMLWriter.scalar(username)), ("password_file", YAMLWriter.scalar(file))]
      yaml.entry("basic_auth", YAMLWriter.map(entries), level: 2)
    case .credentials(let type, let file)?:
      let entries = [("type", YAMLWriter.scalar(type)), ("credentials_file", YAMLWriter.scalar(file))]
      yaml.entry("authorization", YAMLWriter.map(entries), level: 2)
    case nil: break
    }
    var entries: [(key: String, value: String)] = []
    if let file = endpoint.tls.authorityFile { entries.append(("ca_file", YAMLWriter.scalar(file))) }
    if let file = endpoint.tls.certificateFile { entries.append(("cert_file", YAMLWriter.scalar(file))) }
    if let file = endpoint.tls.keyFile { entries.append(("key_file", YAMLWriter.scalar(file))) }
    if endpoint.tls.skipsVerification { entries.append(("insecure_skip_verify", "true")) }
    if !entries.isEmpty { yaml.entry("tls_config", YAMLWriter.map(entries), level: 2) }
  }
}
