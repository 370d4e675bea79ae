public import ReachCore

/// A change of status as it is kept, for `/api/v1/transitions` and `reachd history`.
public struct Transition: Hashable, Sendable {
  /// The target's count of statuses.
  public var sequence: UInt64
  /// When, in nanoseconds since 1970 UTC.
  public var at: Int64
  /// The target's name.
  public var target: String
  /// The status before.
  public var from: Status
  /// The status from then on.
  public var to: Status
  /// The flags from then on; nil while Unknown.
  public var flags: ReachabilityFlags?
  /// The layer that decided, as the interface spells it.
  public var layer: String
  /// Why, as the interface spells it.
  public var reason: String
  /// The fault that other targets shared; nil when there was none.
  public var causeID: String?
  /// The egress interface's name; empty when there was none.
  public var interface: String
  /// The kind of network, as the interface spells it; empty when it was not known.
  public var medium: String
  /// How long the status before had lasted; nil when that is not known. Never negative.
  public var inPrevious: Duration?

  /// A transition.
  public init(
    sequence: UInt64, at: Int64, target: String, from: Status, to: Status, flags: ReachabilityFlags?, layer: String,
    reason: String, causeID: String? = nil, interface: String = "", medium: String = "", inPrevious: Duration? = nil
  ) {
    self.sequence = sequence
    self.at = at
    self.target = target
    self.from = from
    self.to = to
    self.flags = flags
    self.layer = layer
    self.reason = reason
    self.causeID = causeID
    self.interface = interface
    self.medium = medium
    self.inPrevious = inPrevious
  }

  /// The transition that a change of this target's status is; nil for a first status, which is none.
  public init?(_ change: StatusChange, of target: String) {
    guard let from = change.from else { return nil }
    let verdict = change.to
    self.init(
      sequence: change.sequence, at: change.at, target: target, from: from, to: verdict.status, flags: verdict.flags,
      layer: verdict.reason.layer.rawValue, reason: verdict.reason.description, causeID: change.causeID,
      interface: verdict.path.interface, medium: verdict.path.medium?.rawValue ?? "",
      inPrevious: change.inPrevious.map { max(.zero, $0) })
  }

  /// Appends the JSON object that the interface documents for a transition.
  public func write(to json: inout JSONWriter) {
    json.beginObject()
    json.key("sequence")
    json.value(sequence)
    json.key("at")
    json.value(Timestamp(nanosecondsSinceEpoch: at).description)
    json.key("target")
    json.value(target)
    json.key("from")
    json.value(from.rawValue)
    json.key("to")
    json.value(to.rawValue)
    json.key("flags")
    json.value(flags?.description)
    json.key("flags_value")
    if let flags { json.value(flags.rawValue) } else { json.null() }
    json.key("layer")
    json.value(layer)
    json.key("reason")
    json.value(reason)
    json.key("cause_id")
    json.value(causeID)
    json.key("interface")
    json.value(interface)
    json.key("medium")
    json.value(medium)
    json.key("in_previous_seconds")
    if let inPrevious { json.value(inPrevious.inSeconds) } else { json.null() }
    json.endObject()
  }
}
