import ReachCore
import ReachIO
import ReachTestSupport
import Testing

/// One target with the verdict it should get.
struct ProbeCase {
  let name: String
  /// The members of the target's mapping, beside its name.
  let target: String
  /// As the flags are printed; nil for a verdict without flags.
  let flags: String?
  let status: String
  let reason: String

  init(_ name: String, _ target: String, _ flags: String?, _ status: String, _ reason: String) {
    self.name = name
    self.target = target
    self.flags = flags
    self.status = status
    self.reason = reason
  }

  /// A target that is reachable, and not by a cellular interface.
  static func up(_ name: String, _ target: String, _ flags: String, _ reason: String) -> ProbeCase {
    ProbeCase(name, target, flags, "ReachableViaWiFi", reason)
  }

  /// A target that is not reachable.
  static func down(_ name: String, _ target: String, _ reason: String, flags: String = "-- -------") -> ProbeCase {
    ProbeCase(name, target, flags, "NotReachable", reason)
  }

  /// A target of which nothing is known.
  static func unknown(_ name: String, _ target: String, _ reason: String) -> ProbeCase {
    ProbeCase(name, target, nil, "Unknown", reason)
  }
}

/// What a probe said, in the words of a case.
struct SeenVerdict: Hashable {
  let name: String
  let flags: String?
  let status: String?
  let reason: String?
}

/// Has the program probe all cases in one go and compares. `settings` are lines of the configuration beside the targets.
func expectVerdicts(_ cases: [ProbeCase], settings: String = "", on loop: EventLoop) async throws {
  let folder = try TestFolder()
  let targets = cases.map { "  - { name: \"\($0.name)\", \($0.target) }\n" }
  let file = try folder.write(settings + "\ntargets:\n" + targets.joined(), to: "reachd.yaml")
  let (results, status) = try await Reachd.probe(cases.map(\.name), config: file, on: loop)
  let seen = results.map {
    SeenVerdict(
      name: $0["target"]?.text ?? "", flags: $0["flags"]?.text, status: $0["status"]?.text, reason: $0["reason"]?.text)
  }
  let expected = cases.map { SeenVerdict(name: $0.name, flags: $0.flags, status: $0.status, reason: $0.reason) }
  #expect(seen.count == expected.count)
  for (seen, expected) in zip(seen, expected) { #expect(seen == expected) }
  let statuses = Set(cases.map(\.status))
  let isDown = statuses.contains("NotReachable")
  #expect(status == (isDown ? 1 : statuses.contains("Unknown") ? 2 : 0))
}
