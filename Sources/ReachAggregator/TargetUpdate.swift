public import ReachCore

/// What new evidence did to a target's published state.
public struct TargetUpdate: Hashable, Sendable {
  /// Whether the published state differs from before in anything: what was rendered from it is out of date.
  public var isStateChanged: Bool
  /// What happened, in order: at most one of `initial`, `changed` and `flagsChanged`, then at most one `pathChanged`.
  /// Empty for most rounds, which costs no allocation.
  public var events: [TargetEvent]

  /// An update.
  public init(isStateChanged: Bool, events: [TargetEvent]) {
    self.isStateChanged = isStateChanged
    self.events = events
  }

  /// Nothing happened.
  public static let none = TargetUpdate(isStateChanged: false, events: [])
}
