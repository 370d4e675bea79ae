/// Reads `tls_server_config`.
struct WebTLSReader {
  let problems: ProblemList
  /// Where relative paths begin: nothing, or a path with a slash at its end.
  let folder: String
  private var values: ValueReader { ValueReader(problems: problems) }

  private static let keys = [
    "cert", "key", "client_ca", "cert_file", "key_file", "client_auth_type", "client_ca_file", "client_allowed_sans",
    "min_version", "max_version", "cipher_suites", "prefer_server_cipher_suites", "curve_preferences",
  ]
  /// The keys that turn TLS on.
  private static let decisive = ["cert", "cert_file", "key", "key_file", "client_ca", "client_ca_file"]

  /// The settings; nil without TLS, or when there is no telling.
  func read(_ node: YAMLNode, places: inout [WebConfiguration.Key: TextPosition]) -> WebConfiguration.TLS? {
    let fields = Fields(node, in: "tls_server_config", known: Self.keys, problems: problems)
    let certificate = material(fields, "cert", .certificate, &places)
    let key = material(fields, "key", .key, &places)
    let authorities = material(fields, "client_ca", .clientAuthorities, &places)
    let authentication = clientAuthentication(fields)
    let isOn = Self.decisive.contains { fields[$0].map { !isUnset($0) } ?? false } || authentication != nil
    var tls = WebConfiguration.TLS(certificate: certificate ?? .text(""), key: key ?? .text(""))
    tls.clientAuthorities = authorities
    tls.clientAuthentication = authentication ?? .none
    readVersions(fields, &tls)
    readSuites(fields, &tls, &places)
    tls.clientNames = fields["client_allowed_sans"].flatMap { values.texts($0, "client_allowed_sans") }
    guard isOn else {
      if !fields.keys.isEmpty, fields.keys.contains(where: { fields[$0].map { !$0.isEmpty } ?? false }) {
        problems.warning(
          "without cert_file and key_file pages are served without TLS; write both, or remove tls_server_config",
          at: fields.position)
      }
      return nil
    }
    checkPair(fields, certificate, key)
    checkClients(fields, tls)
    return tls
  }

  // MARK: Certificates

  /// As the toolkit has it, an empty text is one that is not there.
  private func isUnset(_ node: YAMLNode) -> Bool { node.isEmpty || node.kind == .scalar && node.text.isEmpty }

  /// What `NAME` holds or `NAME_file` names. Never shown: it may hold a key.
  private func material(
    _ fields: Fields, _ name: String, _ key: WebConfiguration.Key,
    _ places: inout [WebConfiguration.Key: TextPosition]
  ) -> WebConfiguration.Material? {
    let text = fields[name].flatMap { isUnset($0) ? nil : $0 }
    let path = fields[name + "_file"].flatMap { isUnset($0) ? nil : $0 }
    if text != nil, path != nil {
      problems.error(
        "'\(name)' and '\(name)_file' are two places for one thing; remove one of them",
        at: fields.position(of: name + "_file"))
    }
    if let path {
      places[key] = path.position
      guard path.kind == .scalar else { return values.refuse(path, name + "_file", "takes a path") }
      return .file(path.text.hasPrefix("/") ? path.text : folder + path.text)
    }
    guard let text else { return nil }
    places[key] = text.position
    guard text.kind == .scalar else { return values.refuse(text, name, "takes a text in PEM") }
    return .text(text.text)
  }

  private func checkPair(
    _ fields: Fields, _ certificate: WebConfiguration.Material?, _ key: WebConfiguration.Material?
  ) {
    if certificate == nil {
      problems.error("there is no certificate; write cert_file, and key_file with it", at: fields.position)
    }
    if key == nil {
      problems.error("there is no key; write key_file, and cert_file with it", at: fields.position)
    }
  }

  // MARK: Clients

  private func clientAuthentication(_ fields: Fields) -> WebConfiguration.ClientAuthentication? {
    guard let node = fields["client_auth_type"], !isUnset(node) else { return nil }
    // An older name, which the toolkit goes on to accept.
    if node.kind == .scalar, node.text == "RequireClientCert" { return .requireAny }
    return values.choice(node, "client_auth_type")
  }

  private func checkClients(_ fields: Fields, _ tls: WebConfiguration.TLS) {
    let kind = tls.clientAuthentication
    let isVerifying = kind == .verifyIfGiven || kind == .requireAndVerify
    let authoritiesKey = fields["client_ca_file"] == nil ? "client_ca" : "client_ca_file"
    if tls.clientAuthorities != nil, kind == .none {
      problems.error(
        "'\(authoritiesKey)' without client_auth_type would let everybody in; "
          + "write client_auth_type: RequireAndVerifyClientCert", at: fields.position(of: authoritiesKey))
    } else if tls.clientAuthorities != nil, !isVerifying {
      problems.warning(
        "'\(authoritiesKey)' has no effect, since \(kind.rawValue) verifies nothing; "
          + "write client_auth_type: RequireAndVerifyClientCert", at: fields.position(of: authoritiesKey))
    }
    if isVerifying, tls.clientAuthorities == nil {
      problems.warning(
        "without client_ca_file the authorities that this system trusts decide who gets in; write client_ca_file",
        at: fields.position(of: "client_auth_type"))
    }
    guard let names = tls.clientNames, let node = fields["client_allowed_sans"] else { return }
    if kind != .requireAny, kind != .requireAndVerify {
      problems.error(
        "'client_allowed_sans' takes client_auth_type to be RequireAndVerifyClientCert or RequireAnyClientCert, "
          + "since a client without a certificate has no name", at: fields.position(of: "client_allowed_sans"))
    }
    if names.isEmpty {
      let _: Void? = values.refuse(node, "client_allowed_sans", "is empty, and nobody could connect; write a name")
    }
  }

  // MARK: Protocol

  private func readVersions(_ fields: Fields, _ tls: inout WebConfiguration.TLS) {
    if let node = fields["min_version"], let version: WebConfiguration.TLSVersion = values.choice(node, "min_version") {
      tls.oldest = version
      if version < .tls12 {
        problems.warning(
          "\(version.rawValue) is broken, and clients of today refuse it; write TLS12 or TLS13", at: node.position)
      }
    }
    if let node = fields["max_version"], let version: WebConfiguration.TLSVersion = values.choice(node, "max_version") {
      tls.newest = version
    }
    if tls.newest < tls.oldest {
      let key = fields["max_version"] == nil ? "min_version" : "max_version"
      problems.error(
        "max_version \(tls.newest.rawValue) is below min_version \(tls.oldest.rawValue), and nobody could connect; "
          + "exchange them", at: fields.position(of: key))
    }
  }

  private func readSuites(
    _ fields: Fields, _ tls: inout WebConfiguration.TLS, _ places: inout [WebConfiguration.Key: TextPosition]
  ) {
    if let node = fields["cipher_suites"], !node.isEmpty {
      places[.cipherSuites] = fields.position(of: "cipher_suites")
      for element in values.list(node, "cipher_suites") ?? [] {
        guard let suite = values.word(element, "cipher_suites", amongMany: WebConfiguration.cipherSuiteNames) else {
          continue
        }
        tls.cipherSuites.append(suite)
        if suite.hasPrefix("TLS_RSA_") {
          problems.warning(
            "\(suite) lets whoever gets the key read what was sent before; write suites that begin with TLS_ECDHE_",
            at: element.position)
        }
      }
    }
    if let node = fields["prefer_server_cipher_suites"],
      let isOwn = values.yamlOneBoolean(node, "prefer_server_cipher_suites")
    {
      tls.prefersOwnOrder = isOwn
    }
    if let node = fields["curve_preferences"], !node.isEmpty {
      tls.curves = (values.list(node, "curve_preferences") ?? []).compactMap {
        values.word($0, "curve_preferences", among: WebConfiguration.curveNames)
      }
    }
  }
}

extension ValueReader {
  /// One of these words, of which there are too many to list in a message.
  fileprivate func word(_ node: YAMLNode, _ key: String, amongMany words: [String]) -> String? {
    guard let text = text(node, key) else { return nil }
    if words.contains(text) { return text }
    let hint = closest(to: text, among: words).map { "did you mean '\($0)'?" } ?? "write one such as '\(words[8])'"
    return refuse(node, key, "\(quoted(text)) is no suite that is known here; \(hint)", colon: true)
  }
}
