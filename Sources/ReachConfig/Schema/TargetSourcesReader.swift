internal import ReachCore
internal import ReachProbe

/// Reads `targets_from:`.
struct TargetSourcesReader {
  private static let places = ["file", "http", "srv"]
  private static let common = ["name", "refresh", "labels", "defaults"]
  private static let shortestRefresh = Duration.seconds(1)

  let problems: ProblemList
  /// The file's `defaults`.
  let defaults: TargetPolicy
  /// How many labels a target may have.
  let labelLimit: Int
  let probes: ProbesReader
  /// The folder of the configuration.
  let folder: String

  private var reader: ValueReader { ValueReader(problems: problems) }

  init(problems: ProblemList, defaults: TargetPolicy, labelLimit: Int, probes: ProbesReader, folder: String) {
    self.problems = problems
    self.defaults = defaults
    self.labelLimit = labelLimit
    self.probes = probes
    self.folder = folder
  }

  /// The sources in the order of the file.
  func read(_ node: YAMLNode?) -> [TargetSource] {
    guard let node, !node.isEmpty else { return [] }
    guard node.kind == .sequence else {
      problems.error(
        "'targets_from' takes a list, not \(node.whatItIs); write each source behind a dash, such as "
          + "'- file: targets.d/*.json'", at: node.position)
      return []
    }
    var sources: [TargetSource] = []
    var lines: [String: Int] = [:]
    for element in node.elements {
      guard let source = source(element) else { continue }
      if let line = lines[source.name] {
        problems.error(
          "the source \(quoted(source.name)) is already on line \(line); remove one of them, or give it a 'name'",
          at: element.position)
      }
      lines[source.name] = element.position.line
      sources.append(source)
    }
    return sources
  }

  private func source(_ element: YAMLNode) -> TargetSource? {
    let given = Self.places.filter { place in
      element.entries.contains { $0.key.kind == .scalar && $0.key.text == place }
    }
    let known = given.count == 1 ? Self.keys(of: given[0]) : Self.places.flatMap(Self.keys)
    let fields = Fields(element, in: "a source of targets", known: known, problems: problems)
    guard fields.isMap, given.count == 1, let node = fields[given[0]] else {
      if fields.isMap || element.isEmpty {
        problems.error("a source of targets is exactly one of file, http and srv", at: element.position)
      }
      return nil
    }
    let policyAndProbes = readDefaults(fields["defaults"])
    let labels = fields["labels"].map { LabelsReader(problems: problems, limit: labelLimit).read($0) } ?? []
    let refresh = fields["refresh"].flatMap(refresh)
    let place: (TargetSource.Place, name: String)? =
      switch given[0] {
      case "file": files(node, refresh)
      case "http": endpoint(node, fields, refresh)
      default: service(node, fields, refresh)
      }
    let name = fields["name"].flatMap { node in
      reader.value(node, "name") { text throws(ValueError) in
        if text.isEmpty { throw ValueError("it is empty; write one, or remove the key") }
        return text
      }
    }
    guard let place else { return nil }
    return TargetSource(
      name: name ?? place.name, place: place.0, policy: policyAndProbes.policy, probes: policyAndProbes.probes,
      labels: labels)
  }

  private static func keys(of place: String) -> [String] {
    let own =
      switch place {
      case "http": ["basic_auth", "authorization", "tls_config"]
      case "srv": ["server"]
      default: [String]()
      }
    return [place] + own + common
  }

  private func refresh(_ node: YAMLNode) -> Duration? {
    guard let refresh = reader.duration(node, "refresh") else { return nil }
    guard refresh >= Self.shortestRefresh else {
      return reader.refuse(node, "refresh", "\(refresh.text) is below a second; write a longer one", colon: true)
    }
    return refresh
  }

  private func readDefaults(_ node: YAMLNode?) -> (policy: TargetPolicy, probes: [ConfiguredProbe]?) {
    guard let node else { return (defaults.capped, nil) }
    let fields = Fields(node, in: "defaults", known: PolicyReader.keys + ["probes"], problems: problems)
    let policy = PolicyReader(problems: problems).read(fields, over: defaults).capped
    guard let list = fields["probes"] else { return (policy, nil) }
    // What has a port has use for every probe; those that a target found has no use for are left out then. Where no name
    // is to be resolved, there may be addresses only.
    let resolves = list.elements.contains { $0.text == "dns" || $0.entries.first?.key.text == "dns" }
    let kind: Target.Kind =
      resolves ? .host(HostName(query: "sample", display: "sample")) : .address(IPAddress(ipv4: 0x0909_0909))
    let sample = Target(name: "sample", kind: kind, port: 1, policy: policy)
    return (policy, probes.read(list, at: list.position, for: sample))
  }

  // MARK: Files

  private func files(_ node: YAMLNode, _ refresh: Duration?) -> (TargetSource.Place, name: String)? {
    guard let nodes = reader.list(node, "file") else { return nil }
    let patterns = nodes.compactMap { node in
      reader.value(node, "file") { text throws(ValueError) in
        try Self.checkPattern(text)
        return text
      }
    }
    if nodes.isEmpty {
      problems.error("file: the list is empty; write a path such as targets.d/*.json", at: node.position)
    }
    guard !patterns.isEmpty else { return nil }
    let files = TargetFiles(
      patterns: patterns, folder: folder, refresh: refresh ?? TargetFiles.standardRefresh)
    return (.files(files), patterns.joined(separator: ","))
  }

  private static func checkPattern(_ text: String) throws(ValueError) {
    guard TargetFileFormat(path: text) != nil else {
      throw ValueError("\(quoted(text)) ends in none of .json, .yml and .yaml; rename the file, or mend the path")
    }
    guard !text.utf8.contains(0), text.utf8.count <= 4000 else {
      throw ValueError("\(quoted(text)) is no path; write one such as targets.d/*.json")
    }
    if FilePath.folder(of: text).utf8.contains(where: { "*?[".utf8.contains($0) }) {
      throw ValueError("\(quoted(text)) has a wildcard in a folder's name; only the file's may have one")
    }
  }

  // MARK: HTTP

  private func endpoint(
    _ node: YAMLNode, _ fields: Fields, _ refresh: Duration?
  ) -> (TargetSource.Place, name: String)? {
    let url = reader.value(node, "http") { text throws(ValueError) in try HTTPURL(parsing: text) }
    let authorization = authorization(fields)
    let tls = tls(fields["tls_config"])
    guard let url else { return nil }
    if fields["tls_config"] != nil, !url.isSecure {
      problems.error(
        "'tls_config' has no use for an http URL; write https, or remove it", at: fields.position(of: "tls_config"))
    }
    if authorization != nil, !url.isSecure, !url.isLoopback {
      problems.warning(
        "the password goes to \(url.hostText) without encryption; use https", at: node.position)
    }
    let endpoint = TargetEndpoint(
      url: url, refresh: refresh ?? TargetEndpoint.standardRefresh, authorization: authorization, tls: tls,
      folder: folder)
    return (.http(endpoint), url.withoutQuery)
  }

  private func authorization(_ fields: Fields) -> TargetEndpoint.Authorization? {
    if fields["basic_auth"] != nil, fields["authorization"] != nil {
      problems.error(
        "a source has 'basic_auth' or 'authorization', not both; remove one", at: fields.position(of: "authorization"))
    }
    if let node = fields["basic_auth"] {
      let basic = Fields(node, in: "basic_auth", known: ["username", "password_file"], problems: problems)
      let username = required("username", basic, "the user's name")
      let file = required("password_file", basic, "a file that holds the password")
      if let username, username.utf8.contains(UInt8(ascii: ":")) || username.utf8.contains(where: { $0 < 0x20 }) {
        problems.error(
          "username: it holds a colon or a control character; remove it", at: basic.position(of: "username"))
      }
      guard let username, let file else { return nil }
      return .basic(username: username, passwordFile: file)
    }
    guard let node = fields["authorization"] else { return nil }
    let token = Fields(node, in: "authorization", known: ["type", "credentials_file"], problems: problems)
    let type = token["type"].map { node in
      reader.value(node, "type") { text throws(ValueError) in
        let isWord = text.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: ":") }
        guard !text.isEmpty, isWord else { throw ValueError("\(quoted(text)) is no word; write one such as Bearer") }
        return text
      }
    }
    guard let file = required("credentials_file", token, "a file that holds the token") else { return nil }
    return (type ?? "Bearer").map { .credentials(type: $0, file: file) }
  }

  private func tls(_ node: YAMLNode?) -> TargetEndpoint.TLS {
    var tls = TargetEndpoint.TLS()
    guard let node else { return tls }
    let keys = ["ca_file", "cert_file", "key_file", "insecure_skip_verify"]
    let fields = Fields(node, in: "tls_config", known: keys, problems: problems)
    tls.authorityFile = fields["ca_file"].flatMap { path($0, "ca_file") }
    tls.certificateFile = fields["cert_file"].flatMap { path($0, "cert_file") }
    tls.keyFile = fields["key_file"].flatMap { path($0, "key_file") }
    tls.skipsVerification =
      fields["insecure_skip_verify"].flatMap { reader.boolean($0, "insecure_skip_verify") } ?? false
    if (fields["cert_file"] == nil) != (fields["key_file"] == nil) {
      problems.error("'cert_file' and 'key_file' go together; write both, or neither", at: fields.position)
    }
    return tls
  }

  private func required(_ key: String, _ fields: Fields, _ what: String) -> String? {
    guard let node = fields[key] else {
      problems.error("'\(key)' is missing; write \(what)", at: fields.position)
      return nil
    }
    return path(node, key)
  }

  private func path(_ node: YAMLNode, _ key: String) -> String? {
    reader.value(node, key) { text throws(ValueError) in
      if text.isEmpty || text.utf8.contains(0) { throw ValueError("it is empty; write one, or remove the key") }
      return text
    }
  }

  // MARK: SRV

  private func service(
    _ node: YAMLNode, _ fields: Fields, _ refresh: Duration?
  ) -> (TargetSource.Place, name: String)? {
    let name = reader.value(node, "srv") { text throws(ValueError) in try HostName(parsing: text) }
    let option = ProbeOption("server", .endpoints, summary: "")
    var servers: [OptionEndpoint] = []
    if let node = fields["server"], case .endpoints(let list) = OptionReader(problems: problems).value(node, option) {
      servers = list
    }
    guard let name else { return nil }
    return (.srv(TargetService(name: name, servers: servers, refresh: refresh)), name.display)
  }
}

extension HTTPURL {
  /// Whether it leads to this host, so that nobody on the way can listen.
  fileprivate var isLoopback: Bool {
    switch host {
    case .name(let name): name == "localhost"
    case .address(let address): address.isLoopback
    }
  }
}
