public import ReachCore
public import ReachProbe

/// Placeholder.
public struct TCPProbe: ProbeBackend {
  /// What the plugin says of itself.
  public static let registration = Registration(
    name: "tcp", layer: .tcp, version: "0.1.0", summary: "placeholder", options: []
  ) { (_, _) throws(OptionError) in TCPProbe() }

  /// Placeholder.
  public func probe(_ target: Target, in context: ProbeContext) async throws(LocalFault) -> Evidence {
    throw LocalFault(.notProbed)
  }
}
