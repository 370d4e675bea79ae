internal import ReachCore

/// Reads what `defaults:` and a target have in common.
struct PolicyReader {
  static let keys = [
    "interval", "timeout", "fall", "rise", "status_rule", "tcp_policy", "address_policy", "unknown_after", "hold",
    "search", "resolve",
  ]
  /// Counts of rounds; more than anybody waits for.
  private static let counts = 1...1_000_000

  let problems: ProblemList
  private var reader: ValueReader { ValueReader(problems: problems) }

  init(problems: ProblemList) { self.problems = problems }

  /// The policy that the fields make of the one that is inherited. An inherited timeout is left as it is.
  func read(_ fields: Fields, over inherited: TargetPolicy) -> TargetPolicy {
    var policy = inherited
    readTimes(fields, &policy)
    if let node = fields["fall"], let count = reader.integer(node, "fall", in: Self.counts) { policy.fall = count }
    if let node = fields["rise"], let count = reader.integer(node, "rise", in: Self.counts) { policy.rise = count }
    if let node = fields["unknown_after"], let count = reader.integer(node, "unknown_after", in: Self.counts) {
      policy.unknownAfter = count
    }
    if let node = fields["status_rule"], let rule: StatusRule = reader.choice(node, "status_rule") {
      policy.statusRule = rule
    }
    if let node = fields["tcp_policy"], let tcp: TargetPolicy.TCP = reader.choice(node, "tcp_policy") {
      policy.tcp = tcp
    }
    if let node = fields["address_policy"],
      let addresses: TargetPolicy.Addresses = reader.choice(node, "address_policy")
    {
      policy.addresses = addresses
    }
    if let node = fields["search"], let search = reader.boolean(node, "search") { policy.search = search }
    readResolve(fields, &policy)
    return policy
  }

  private func readTimes(_ fields: Fields, _ policy: inout TargetPolicy) {
    var intervalIsKnown = true
    if let node = fields["interval"] {
      if let interval = reader.duration(node, "interval") {
        policy.interval = interval
      } else {
        intervalIsKnown = false
      }
    }
    if let node = fields["timeout"], let timeout = reader.duration(node, "timeout") {
      policy.timeout = timeout
      if intervalIsKnown, timeout > policy.interval {
        problems.error(
          "timeout: \(timeout.text) is above the interval of \(policy.interval.text); a round must end before the "
            + "next begins", at: node.position)
      }
    }
    if let node = fields["hold"], let hold = reader.duration(node, "hold", allowingZero: true) { policy.hold = hold }
  }

  private func readResolve(_ fields: Fields, _ policy: inout TargetPolicy) {
    guard let node = fields["resolve"] else { return }
    let limits = Fields(node, in: "resolve", known: ["min", "max"], problems: problems)
    if let node = limits["min"], let least = reader.duration(node, "min", allowingZero: true) {
      policy.resolveMin = least
    }
    if let node = limits["max"], let most = reader.duration(node, "max") { policy.resolveMax = most }
    if policy.resolveMin > policy.resolveMax {
      problems.error(
        "resolve: the min of \(policy.resolveMin.text) is above the max of \(policy.resolveMax.text); lower one or "
          + "raise the other", at: fields.position(of: "resolve"))
    }
  }
}

extension TargetPolicy {
  /// The policy with its timeout no longer than its interval.
  var capped: TargetPolicy {
    var policy = self
    policy.timeout = min(timeout, interval)
    return policy
  }
}
