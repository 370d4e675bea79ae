internal import ReachConfig
internal import ReachCore
internal import ReachIO
internal import ReachProbe

/// Asks a name server what a module says, and looks at the answer. Isolation: from a task on the event loop.
struct DNSQuery {
  let module: DNSModule
  let dial: Dial
  let probe: ModuleProbe

  private var loop: EventLoop { dial.host.loop }
  private var log: ProbeLogbook { probe.log }

  /// Asks, and says what came of it by the deadline.
  func run() async -> DNSQueryOutcome {
    var outcome = DNSQueryOutcome()
    guard let name = DNSName(module.queryName) else {
      log.note(.error, "The name cannot be asked for", ["query": module.queryName])
      return outcome
    }
    let message = DNSQuestionMessage(
      name: name, type: DNSRecordType(module.queryType), recordClass: DNSRecordClass(module.queryClass),
      wantsRecursion: module.wantsRecursion)
    let address = dial.peer.address
    log.note(
      .info, "Making DNS query",
      [
        "target": address.family == .ipv6 ? "[\(address)]:\(dial.peer.port)" : "\(address):\(dial.peer.port)",
        "protocol": module.transport.rawValue + (module.usesTLS ? "-tls" : ""), "query": name.description,
        "type": message.type.description,
        "class": message.recordClass.description,
      ])
    let exchange = DNSExchange(message: message, dial: dial, security: security)
    if let reader = await ask(exchange, &outcome) { examine(reader, &outcome) }
    return outcome
  }

  private var security: DNSExchange.Security? {
    guard module.usesTLS else { return nil }
    return DNSExchange.Security(
      settings: module.tls, name: module.tls.serverName ?? probe.target.kind.peerName, credentials: probe.credentials)
  }

  // MARK: Asking

  private func ask(_ exchange: DNSExchange, _ outcome: inout DNSQueryOutcome) async -> DNSReader? {
    let start = loop.now()
    var course = module.transport == .tcp ? await exchange.askOverTCP() : await exchange.askOverUDP()
    outcome.retries = course.retries
    if course.retries > 0 { log.note(.info, "Sent the query again", ["times": "\(course.retries)"]) }
    if course.strangers > 0 {
      log.note(.info, "Left messages aside that do not answer the query", ["count": "\(course.strangers)"])
    }
    if case .success(let reader) = course.result {
      outcome.wasTruncated = reader.header?.isTruncated ?? false
      if module.transport == .udp, outcome.wasTruncated == true { await askForRest(exchange, &course) }
    }
    outcome.request = course.request
    outcome.connect = max(.zero, loop.now().since(start) - course.request)
    switch course.result {
    case .success(let reader): return reader
    case .failure(let failure):
      fail(failure, &outcome)
      return nil
    }
  }

  /// Asks over TCP for what did not fit into a datagram.
  private func askForRest(_ exchange: DNSExchange, _ course: inout DNSExchange.Course) async {
    log.note(.info, "The reply did not fit into a datagram; asking again over TCP")
    let whole = await exchange.askOverTCP()
    course.request += whole.request
    switch whole.result {
    case .success: course.result = whole.result
    // What there is of a reply is one, as it would be had nobody asked again.
    case .failure(let failure): log.note(.info, "Going on with what did fit", ["err": failure.text])
    }
  }

  private func fail(_ failure: DNSFailure, _ outcome: inout DNSQueryOutcome) {
    outcome.failure = failure
    outcome.wasTruncated = nil
    log.note(.error, "Error while sending a DNS query", ["err": failure.text])
  }

  // MARK: Looking at the answer

  private func examine(_ reader: DNSReader, _ outcome: inout DNSQueryOutcome) {
    guard let answer = DNSAnswer(reader) else { return fail(.malformed, &outcome) }
    outcome.hasAnswer = true
    outcome.answers = answer.answers.count
    outcome.authorities = answer.authorities.count
    outcome.additionals = answer.additionals.count
    if module.queryType == DNSRecordType.soa.number {
      outcome.serial = answer.answers.last { $0.type == .soa }?.serial ?? 0
    }
    log.note(
      .info, "Got response",
      [
        "rcode": answer.code.description, "answers": "\(outcome.answers)", "authorities": "\(outcome.authorities)",
        "additionals": "\(outcome.additionals)",
      ])
    guard module.validCodes.contains(answer.code.number) else {
      let valid = module.validCodes.map { DNSResponseCode($0).description }.joined(separator: " ")
      return log.note(
        .error, "Rcode is not one of the valid rcodes", ["rcode": answer.code.description, "valid_rcodes": valid])
    }
    outcome.succeeded =
      validate("Answer", answer.answers, module.answer) && validate("Authority", answer.authorities, module.authority)
      && validate("Additional", answer.additionals, module.additional)
  }

  private func validate(_ section: String, _ records: [DNSAnswer.Record], _ rules: DNSModule.RecordRules) -> Bool {
    log.note(.info, "Validating \(section) RRs")
    for record in records { log.note(.info, "Validating RR", ["rr": record.text]) }
    guard let violation = rules.violation(by: records.map(\.text)) else { return true }
    log.note(.error, violation.text, violation.fields)
    log.note(.error, "\(section) RRs validation failed")
    return false
  }
}
