public import ReachCore
public import ReachProbe

/// One probe that a target runs.
public struct PlannedProbe: Sendable {
  /// The backend's name, such as `tcp`.
  public let name: String
  /// The layer it looks at.
  public let layer: Layer
  /// The backend; nil when it is not loaded, which makes each of its runs a fault of this host.
  public let backend: (any ProbeBackend)?
  /// Its own time limit, counted from its start; the round's deadline holds where that comes first.
  public let timeout: Duration?

  /// A planned probe.
  public init(name: String, layer: Layer, backend: (any ProbeBackend)?, timeout: Duration? = nil) {
    self.name = name
    self.layer = layer
    self.backend = backend
    self.timeout = timeout
  }
}

extension Layer {
  /// When a layer's probe has its turn in a round: addresses first, then the way to them, then what is there.
  var turn: Int {
    switch self {
    case .config: 0
    case .dns: 1
    case .route: 2
    case .link: 3
    case .tcp: 4
    case .local: 5
    }
  }
}
