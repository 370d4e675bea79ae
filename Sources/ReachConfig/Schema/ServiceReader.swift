internal import ReachCore

/// Reads what concerns the agent itself: where it listens, logs and keeps its state.
struct ServiceReader {
  let problems: ProblemList
  private var reader: ValueReader { ValueReader(problems: problems) }

  init(problems: ProblemList) { self.problems = problems }

  /// The settings of `web`: the addresses of `listen`, and `reload`.
  func web(_ node: YAMLNode?) -> (listen: [ListenAddress], isReloadAllowed: Bool?) {
    let standard = [ListenAddress.tcp(address: IPAddress(ipv4: 0x7f00_0001), port: 10120)]
    guard let node else { return (standard, nil) }
    let fields = Fields(node, in: "web", known: ["listen", "config", "reload"], problems: problems)
    let isReloadAllowed = fields["reload"].flatMap { reader.boolean($0, "reload") }
    return (fields["listen"].flatMap(listen) ?? standard, isReloadAllowed)
  }

  private func listen(_ node: YAMLNode) -> [ListenAddress]? {
    guard let nodes = reader.list(node, "listen") else { return nil }
    var listen: [ListenAddress] = []
    for node in nodes {
      let address = reader.value(node, "listen") { text throws(ValueError) in try ListenAddress(parsing: text) }
      guard let address else { continue }
      if listen.contains(address), address.isFixed {
        problems.error("listen: \(address) is there twice; remove one of them", at: node.position)
      }
      listen.append(address)
    }
    return listen
  }

  /// The file of `web.config`; a relative path begins in the folder of the configuration.
  func webConfig(_ node: YAMLNode?) -> String? {
    // `listen` has said what is wrong with the other keys.
    let quiet = ProblemList(file: problems.file)
    guard let node, let path = Fields(node, in: "web", known: [], problems: quiet)["config"] else { return nil }
    guard let text = reader.text(path, "config") else { return nil }
    guard !text.isEmpty else { return reader.refuse(path, "config", "is empty; write a path, or remove the key") }
    return text.hasPrefix("/") ? text : folder(of: problems.file) + text
  }

  /// The settings of `log`.
  func log(_ node: YAMLNode?) -> LogSettings {
    var settings = LogSettings()
    guard let node else { return settings }
    let fields = Fields(node, in: "log", known: ["level", "format", "output"], problems: problems)
    if let node = fields["level"], let level: LogSettings.Level = reader.choice(node, "level") {
      settings.level = level
    }
    settings.format = fields["format"].flatMap { reader.choice($0, "format") }
    if let node = fields["output"], let text = reader.text(node, "output") {
      switch text {
      case "stderr": settings.output = .standardError
      case "stdout": settings.output = .standardOutput
      default:
        if text.hasPrefix("/") {
          settings.output = .file(text)
        } else {
          problems.error(
            "output: \(quoted(text)) is none of stderr, stdout and an absolute path; write one of them",
            at: node.position)
        }
      }
    }
    return settings
  }

  /// The settings of `metrics`.
  func metrics(_ node: YAMLNode?) -> MetricsSettings {
    var settings = MetricsSettings()
    guard let node else { return settings }
    let fields = Fields(node, in: "metrics", known: ["detail", "max_labels"], problems: problems)
    if let node = fields["detail"], let detail: MetricsSettings.Detail = reader.choice(node, "detail") {
      settings.detail = detail
    }
    if let node = fields["max_labels"], let count = reader.integer(node, "max_labels", in: 0...1000) {
      settings.maxLabels = count
    }
    return settings
  }

  /// The folder of `state_dir`.
  func stateDirectory(_ node: YAMLNode?) -> String? {
    guard let node, let text = reader.text(node, "state_dir") else { return nil }
    guard text.hasPrefix("/") else {
      return reader.refuse(node, "state_dir", "\(quoted(text)) is not an absolute path; begin it with /", colon: true)
    }
    return text
  }

  /// The names and globs of `wwan_interfaces`.
  func wwanInterfaces(_ node: YAMLNode?) -> [String] {
    guard let node, let nodes = reader.list(node, "wwan_interfaces") else { return [] }
    return nodes.compactMap { node in
      reader.value(node, "wwan_interfaces") { text throws(ValueError) in
        // A glob may be longer than any name it stands for.
        let isGlob = text.utf8.contains { [UInt8(ascii: "*"), UInt8(ascii: "?"), UInt8(ascii: "[")].contains($0) }
        if !isGlob { try InterfaceName.check(text) }
        return text
      }
    }
  }

  /// The addresses of `default_path`.
  func defaultPath(_ node: YAMLNode?) -> [IPAddress] {
    let standard = [IPAddress(ipv4: 0x0909_0909), IPAddress(ipv4: 0xcb00_7101)]
    guard let node, let nodes = reader.list(node, "default_path") else { return standard }
    let addresses = nodes.compactMap { node in
      reader.value(node, "default_path") { text throws(ValueError) in
        let address = try AddressText.parseTarget(text)
        guard address.family == .ipv4 else {
          throw ValueError("\(address) is not an IPv4 address; the IPv6 default path needs none")
        }
        guard !address.isLoopback, !address.isLinkLocal else {
          throw ValueError("\(address) never takes the default path; write an address far away, such as 9.9.9.9")
        }
        return address
      }
    }
    let halves = Set(addresses.map { $0.low >> 31 })
    if addresses.count == nodes.count, halves.count < 2 {
      problems.error(
        "default_path: no address is in the half \(halves.contains(0) ? "from 128.0.0.0 up" : "below 128.0.0.0"); "
          + "write one in each half, such as [9.9.9.9, 203.0.113.1]", at: node.position)
    }
    return addresses
  }
}

extension ListenAddress {
  /// Whether it is the same each time: a port that the kernel chooses is not.
  fileprivate var isFixed: Bool { if case .tcp(_, port: 0) = self { false } else { true } }
}
