internal import ReachCore

/// One measurement that a histogram counted, to be shown beside its bucket.
struct Exemplar: Sendable {
  /// What was measured, and when.
  struct Subject: Sendable {
    /// In nanoseconds since 1970 UTC.
    let at: Int64
    /// The label that `address` has: whose it is.
    let role: Role
    /// The address that was connected to, or that of the name server; nil when there was none.
    let address: IPAddress?
    /// Why it failed; nil when it did not.
    let reason: Reason?
  }

  /// What an address is to a probe.
  enum Role: String, Sendable {
    /// A connection was made to it.
    case address
    /// It was asked.
    case server
  }

  let nanoseconds: Int64
  let subject: Subject

  /// The names and values of the labels. Together they have at most 128 characters, as OpenMetrics 1.0 wants: what
  /// would not fit is left out.
  private var labels: [(name: String, value: String)] {
    var room = 128
    var labels: [(name: String, value: String)] = []
    func add(_ name: String, _ value: String?) {
      guard let value, name.utf8.count + value.utf8.count <= room else { return }
      room -= name.utf8.count + value.utf8.count
      labels.append((name, value))
    }
    add("reason", subject.reason?.description)
    add(subject.role.rawValue, subject.address?.description)
    return labels
  }

  /// Appends what stands behind a bucket's number in OpenMetrics: ` # {address="192.0.2.1"} 0.0123 1700000000.5`.
  func append(to out: inout ByteWriter) {
    out.append(" # {")
    var text: [UInt8] = []
    for (index, label) in labels.enumerated() {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      LabelText.append(label.name, label.value, to: &text)
    }
    out.append(text)
    out.append("} ")
    out.append(seconds: nanoseconds)
    out.append(UInt8(ascii: " "))
    // Whole milliseconds: Prometheus keeps no more, and would take the rest for another exemplar.
    out.append(seconds: subject.at / 1_000_000 * 1_000_000)
  }

  /// Appends the fields of io.prometheus.client.Exemplar.
  func encode(to message: inout ByteWriter) {
    for label in labels {
      message.append(field: 1) { pair in
        pair.append(field: 1, text: label.name)
        pair.append(field: 2, text: label.value)
      }
    }
    message.append(field: 2, seconds: nanoseconds)
    // google.protobuf.Timestamp.
    message.append(field: 3) { time in
      time.append(field: 1, signed: subject.at / 1_000_000_000)
      time.append(field: 2, signed: subject.at % 1_000_000_000 / 1_000_000 * 1_000_000)
    }
  }
}

extension RoundFindings {
  /// What a run of a probe that uses the network was about: the address that decided, or the name server that was asked.
  func subject(of run: ProbeRun, at wall: Int64) -> Exemplar.Subject? {
    switch Layer(rawValue: run.probe) {
    case .tcp:
      let connected = candidates.first { candidate in
        guard candidate.role == .target, let tcp = candidate.tcp, tcp.result != .notRun else { return false }
        return (tcp.result == .open) == (run.outcome == .success)
      }
      return Exemplar.Subject(at: wall, role: .address, address: connected?.address, reason: run.outcome.reason)
    case .dns: return Exemplar.Subject(at: wall, role: .server, address: dns?.servers.first, reason: run.outcome.reason)
    default: return nil
    }
  }
}
