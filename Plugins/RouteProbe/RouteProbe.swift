public import ReachCore
public import ReachProbe

/// Placeholder.
public struct RouteProbe: ProbeBackend {
  /// What the plugin says of itself.
  public static let registration = Registration(
    name: "route", layer: .route, version: "0.1.0", summary: "placeholder", options: []
  ) { (_, _) throws(OptionError) in RouteProbe() }

  /// Placeholder.
  public func probe(_ target: Target, in context: ProbeContext) async throws(LocalFault) -> Evidence {
    throw LocalFault(.notProbed)
  }
}
