internal import ReachCore
public import ReachProbe

/// A module as the configuration writes it, every default filled in.
///
/// No key holds a secret: a client's key is named by its file.
public struct ModuleText {
  private let module: ConfiguredModule
  private let options: (ConfiguredProbe) -> [(key: String, value: String)]
  /// Whether keys are written that have the value which they have anyway.
  private let isFull: Bool

  init(
    _ module: ConfiguredModule, isFull: Bool = true,
    options: @escaping (ConfiguredProbe) -> [(key: String, value: String)]
  ) {
    self.module = module
    self.isFull = isFull
    self.options = options
  }

  /// The text of a module whose backend declares these options, if it is one that runs a round.
  public static func text(of module: ConfiguredModule, declared: [ProbeOption]) -> String {
    var yaml = YAMLWriter(appendingTo: [])
    ModuleText(module) { ConfigurationText.options($0.options, declared: declared) }.write(to: &yaml, level: 0)
    return String(decoding: yaml.bytes, as: UTF8.self)
  }

  /// The texts of modules below the key `modules`, with no more than they need.
  static func text(of modules: [ConfiguredModule]) -> String {
    var yaml = YAMLWriter(appendingTo: [])
    if modules.isEmpty { yaml.entry("modules", "{}") } else { yaml.line("modules:") }
    for module in modules { ModuleText(module, isFull: false) { _ in [] }.write(to: &yaml, level: 1) }
    return String(decoding: yaml.bytes, as: UTF8.self)
  }

  /// Appends the module, so many levels in.
  func write(to yaml: inout YAMLWriter, level: Int) {
    yaml.line("\(YAMLWriter.scalar(module.name)):", level: level)
    yaml.entry("backend", YAMLWriter.scalar(module.backend), level: level + 1)
    if let timeout = module.timeout { yaml.entry("timeout", YAMLWriter.duration(timeout), level: level + 1) }
    switch module.kind {
    case .tcp(let tcp): write(tcp, &yaml, level + 1)
    case .dns(let dns): write(dns, &yaml, level + 1)
    case .round(let probe):
      for (key, value) in options(probe) { yaml.entry(YAMLWriter.scalar(key), value, level: level + 1) }
    }
  }

  private func write(_ tcp: TCPModule, _ yaml: inout YAMLWriter, _ level: Int) {
    write(tcp.addressing, &yaml, level)
    if !tcp.exchange.isEmpty {
      yaml.line("query_response:", level: level)
      for step in tcp.exchange { yaml.line("- \(YAMLWriter.map(Self.entries(of: step)))", level: level + 1) }
    }
    if tcp.usesTLS { yaml.entry("tls", "true", level: level) }
    write(tcp.tls, &yaml, level)
  }

  private static func entries(of step: ExchangeStep) -> [(key: String, value: String)] {
    var entries: [(key: String, value: String)] = []
    if let expect = step.expect { entries.append(("expect", YAMLWriter.scalar(expect.pattern))) }
    if !step.expectBytes.isEmpty { entries.append(("expect_bytes", YAMLWriter.octets(step.expectBytes))) }
    if let labels = step.labels {
      let list = labels.map {
        YAMLWriter.map([("name", YAMLWriter.scalar($0.name)), ("value", YAMLWriter.scalar($0.value))])
      }
      entries.append(("labels", YAMLWriter.list(list)))
    }
    if !step.send.isEmpty { entries.append(("send", YAMLWriter.octets(step.send))) }
    if step.startsTLS { entries.append(("starttls", "true")) }
    return entries
  }

  private func write(_ addressing: ModuleAddressing, _ yaml: inout YAMLWriter, _ level: Int) {
    if isFull || addressing.preferred == .ipv4 {
      yaml.entry("preferred_ip_protocol", addressing.preferred == .ipv4 ? "ip4" : "ip6", level: level)
    }
    if isFull || !addressing.allowsOtherFamily {
      yaml.entry("ip_protocol_fallback", "\(addressing.allowsOtherFamily)", level: level)
    }
    if let source = addressing.source { yaml.entry("source_ip_address", YAMLWriter.scalar("\(source)"), level: level) }
  }

  private func write(_ tls: TLSClientSettings, _ yaml: inout YAMLWriter, _ level: Int) {
    var entries: [(key: String, value: String)] = []
    for (key, text) in [
      ("ca_file", tls.authorityFile), ("cert_file", tls.certificateFile), ("key_file", tls.keyFile),
      ("server_name", tls.serverName), ("min_version", tls.oldest?.rawValue), ("max_version", tls.newest?.rawValue),
    ] {
      if let text { entries.append((key, YAMLWriter.scalar(text))) }
    }
    if tls.skipsVerification { entries.append(("insecure_skip_verify", "true")) }
    if !entries.isEmpty { yaml.entry("tls_config", YAMLWriter.map(entries), level: level) }
  }

  private func write(_ dns: DNSModule, _ yaml: inout YAMLWriter, _ level: Int) {
    write(dns.addressing, &yaml, level)
    yaml.entry("query_name", YAMLWriter.scalar(dns.queryName), level: level)
    let plain = DNSModule(queryName: dns.queryName)
    func entry(_ key: String, _ value: String, _ isPlain: Bool) {
      if isFull || !isPlain { yaml.entry(key, value, level: level) }
    }
    entry("query_type", YAMLWriter.scalar("\(DNSRecordType(dns.queryType))"), dns.queryType == plain.queryType)
    entry("query_class", YAMLWriter.scalar("\(DNSRecordClass(dns.queryClass))"), dns.queryClass == plain.queryClass)
    entry("transport_protocol", dns.transport.rawValue, dns.transport == plain.transport)
    entry("recursion_desired", "\(dns.wantsRecursion)", dns.wantsRecursion)
    let codes = dns.validCodes.map { YAMLWriter.scalar("\(DNSResponseCode($0))") }
    entry("valid_rcodes", YAMLWriter.list(codes), dns.validCodes == plain.validCodes)
    for (key, rules) in [
      ("validate_answer_rrs", dns.answer), ("validate_authority_rrs", dns.authority),
      ("validate_additional_rrs", dns.additional),
    ] where !rules.isEmpty {
      yaml.line("\(key):", level: level)
      for (key, expressions) in [
        ("fail_if_matches_regexp", rules.failIfMatches), ("fail_if_all_match_regexp", rules.failIfAllMatch),
        ("fail_if_not_matches_regexp", rules.failIfNotMatches),
        ("fail_if_none_matches_regexp", rules.failIfNoneMatches),
      ] where !expressions.isEmpty {
        yaml.entry(key, YAMLWriter.list(expressions.map { YAMLWriter.scalar($0.pattern) }), level: level + 1)
      }
    }
    if dns.usesTLS { yaml.entry("dns_over_tls", "true", level: level) }
    write(dns.tls, &yaml, level)
  }
}
