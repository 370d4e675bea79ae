internal import Glibc
public import ReachConfig
public import ReachCore
internal import ReachIO
public import ReachProbe

/// One probe by one module of one target: what `/probe` asks for. Isolation: from a task on the host's loop.
public struct ModuleProbe: Sendable {
  /// What the probe is of.
  public let target: Target
  /// The name that a TLS peer is to have, where the module does not say.
  public let hostname: String?
  /// When it must have come to an end.
  public let deadline: Instant
  /// The loop and the kernel's tables.
  public let host: ProbeHost
  /// What resolves names; nil when no such backend is loaded.
  public let resolver: (any ProbeBackend)?
  /// What the target's addresses must pass, and why the target has.
  public let allowance: ProbeAllowance
  /// Why the target has passed.
  public let grant: ProbeAllowance.Grant
  /// Certificates and keys that have been read.
  public let credentials: TLSClientCredentials
  /// Where to say what is being done.
  public let log: ProbeLogbook

  /// A probe.
  public init(
    of target: Target, hostname: String? = nil, by deadline: Instant, on host: ProbeHost,
    resolver: (any ProbeBackend)?, allowance: ProbeAllowance, grant: ProbeAllowance.Grant,
    credentials: TLSClientCredentials? = nil, log: ProbeLogbook
  ) {
    self.target = target
    self.hostname = hostname
    self.deadline = deadline
    self.host = host
    self.resolver = resolver
    self.allowance = allowance
    self.grant = grant
    self.credentials = credentials ?? TLSClientCredentials(on: host.loop)
    self.log = log
  }

  /// How a probe ended.
  public enum Outcome: Hashable, Sendable {
    /// It saw what it hoped for.
    case success
    /// It saw that something is wrong.
    case failure
    /// Something may not be probed after all.
    case refused(ProbeAllowance.Refusal)
    /// This host could not do its part.
    case fault(LocalFault)
  }

  /// That a probe has ended before it could do what it was for.
  public struct Ending: Error, Hashable, Sendable {
    /// How.
    public let outcome: Outcome
  }

  /// Runs a module that connects.
  public func run(_ module: TCPModule, into metrics: inout ProbeMetrics) async -> Outcome {
    await TCPProber(probe: self, module: module).run(into: &metrics)
  }

  /// Whether an error says that this host lacks something, rather than anything about the target.
  static func fault(_ error: SystemError) -> LocalFault? {
    switch error.code.errno {
    case EMFILE, ENFILE, ENOBUFS, ENOMEM: LocalFault(.probeError(error.code), detail: "\(error)")
    default: nil
    }
  }
}

/// Ends a probe from within, with its outcome.
struct ProbeStop: Error {
  let outcome: ModuleProbe.Outcome
  static let failure = ProbeStop(outcome: .failure)
}
