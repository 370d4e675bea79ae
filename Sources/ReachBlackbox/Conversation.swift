internal import ReachConfig
internal import ReachCore

/// Goes through a module's steps over a connection.
struct Conversation {
  let probe: ModuleProbe
  let module: TCPModule
  /// What TLS is spoken over, where it is.
  let connection: PlainStream
  private var log: ProbeLogbook { probe.log }

  init(probe: ModuleProbe, module: TCPModule, connection: PlainStream) {
    self.probe = probe
    self.module = module
    self.connection = connection
  }

  /// Begins TLS on the connection, with whom the module, or else the request or the target, names.
  func secure() async throws(StreamFailure) -> TLSStream {
    let name = module.tls.serverName ?? probe.hostname ?? probe.target.kind.peerName
    return try await TLSStream.begin(
      over: connection, module.tls, name: name, try probe.credentials.loaded(module.tls))
  }

  /// Throws when a step does not go as the module wants.
  func hold(over stream: any ByteStream, into metrics: inout ProbeMetrics) async throws(ProbeStop) {
    var stream = stream
    defer { (stream as? TLSStream)?.sayGoodbye() }
    var lines = LineReader()
    for (number, step) in module.exchange.enumerated() {
      log.note(.info, "Processing query response entry", ["entry_number": "\(number)"])
      var send = step.send
      if let expect = step.expect {
        let match = try await self.match(expect, &lines, stream, &metrics)
        send = match.expand(send)
        if let labels = step.labels { Self.note(labels, match, &metrics) }
      }
      if !step.expectBytes.isEmpty { try await check(step.expectBytes, &lines, stream, &metrics) }
      if !send.isEmpty {
        log.note(.debug, "Sending line", ["line": Self.text(send)])
        do throws(StreamFailure) { try await stream.write(send + [UInt8(ascii: "\n")]) } catch {
          log.note(.error, "Failed to send", ["err": "\(error)"])
          throw Self.stop(error)
        }
      }
      if step.startsTLS {
        let secured: TLSStream
        do throws(StreamFailure) { secured = try await secure() } catch {
          log.note(.error, "TLS Handshake (client) failed", ["err": "\(error)"])
          throw Self.stop(error)
        }
        log.note(.info, "TLS Handshake (client) succeeded.")
        secured.describe(into: &metrics)
        stream = secured
        // What came before TLS must not be taken for what comes within.
        lines = LineReader()
      }
    }
  }

  /// Reads lines until one matches.
  private func match(
    _ expect: RegularExpression, _ lines: inout LineReader, _ stream: any ByteStream, _ metrics: inout ProbeMetrics
  ) async throws(ProbeStop) -> RegularExpression.Match {
    var last: [UInt8] = []
    while true {
      let line: [UInt8]?
      do throws(LineReader.Failure) { line = try await lines.next(from: stream) } catch { throw stop(error) }
      guard let line else { break }
      log.note(.debug, "Read line", ["line": Self.text(line)])
      if let match = expect.firstMatch(in: line) {
        log.note(.info, "Regexp matched", ["regexp": expect.pattern, "line": Self.text(line)])
        metrics.set(.failedDueToRegex, 0)
        return match
      }
      last = line
    }
    metrics.set(.failedDueToRegex, 1)
    log.note(.error, "Regexp did not match", ["regexp": expect.pattern, "line": Self.text(last)])
    throw .failure
  }

  private func check(
    _ wanted: [UInt8], _ lines: inout LineReader, _ stream: any ByteStream, _ metrics: inout ProbeMetrics
  ) async throws(ProbeStop) {
    let octets: [UInt8]
    do throws(LineReader.Failure) { octets = try await lines.octets(wanted.count, from: stream) } catch {
      throw stop(error)
    }
    log.note(.debug, "Read bytes", ["bytes": "\(octets)"])
    guard octets.count == wanted.count else {
      log.note(.error, "Read less data than expected", ["expected": "\(wanted)", "bytes": "\(octets)"])
      throw .failure
    }
    guard octets == wanted else {
      metrics.set(.failedDueToBytes, 1)
      log.note(.error, "Bytes did not match", ["expected": "\(wanted)", "bytes": "\(octets)"])
      throw .failure
    }
    log.note(.info, "Bytes matched", ["expected": "\(wanted)"])
    metrics.set(.failedDueToBytes, 0)
  }

  private static func note(
    _ labels: [ExchangeStep.Label], _ match: RegularExpression.Match, _ metrics: inout ProbeMetrics
  ) {
    let filled = labels.map { Label(name: $0.name, value: text(match.expand(Array($0.value.utf8)))) }
    metrics.set(.expectInfo, 1, filled)
  }

  private func stop(_ failure: LineReader.Failure) -> ProbeStop {
    switch failure {
    case .lineTooLong:
      log.note(
        .error, "Error reading from connection", ["err": "a line is longer than \(LineReader.longestLine) bytes"])
      return .failure
    case .stream(let failure):
      log.note(.error, "Error reading from connection", ["err": "\(failure)"])
      return Self.stop(failure)
    }
  }

  private static func stop(_ failure: StreamFailure) -> ProbeStop {
    if case .system(let error) = failure, let fault = ModuleProbe.fault(error) {
      return ProbeStop(outcome: .fault(fault))
    }
    return .failure
  }

  private static func text(_ octets: [UInt8]) -> String { String(decoding: octets, as: UTF8.self) }
}

extension Target.Kind {
  /// What a TLS peer is called where nobody says.
  var peerName: String {
    switch self {
    case .host(let name): name.query
    case .address(let address), .pair(_, let address): "\(address.scoped(to: nil))"
    case .defaultPath, .linkLocal, .interface: ""
    }
  }
}
