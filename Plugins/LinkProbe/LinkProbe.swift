public import ReachCore
public import ReachProbe

/// Placeholder.
public struct LinkProbe: ProbeBackend {
  /// What the plugin says of itself.
  public static let registration = Registration(
    name: "link", layer: .link, version: "0.1.0", summary: "placeholder", options: []
  ) { (_, _) throws(OptionError) in LinkProbe() }

  /// Placeholder.
  public func probe(_ target: Target, in context: ProbeContext) async throws(LocalFault) -> Evidence {
    throw LocalFault(.notProbed)
  }
}
