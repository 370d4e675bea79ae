public import ReachCore

/// What one judgement of a target says of the parts of its way that other targets may share.
public struct CauseEvidence: Hashable, Sendable {
  /// What is at fault as far as this target can tell.
  public struct Blame: Hashable, Sendable {
    /// What is at fault.
    public var cause: Cause
    /// The reason of the target's status.
    public var reason: Reason
    /// Whether the cause itself was seen to be broken. Otherwise silence came from beyond, and it is but suspected.
    public var isDirect: Bool

    /// A blame.
    public init(_ cause: Cause, _ reason: Reason, isDirect: Bool) {
      self.cause = cause
      self.reason = reason
      self.isDirect = isDirect
    }
  }

  /// What was learned of a part of the way by using it.
  public enum Word: Hashable, Sendable {
    /// Nothing: it was not used, or by nobody who could tell.
    case nothing
    /// It works, since an answer came by it.
    case works
    /// No answer came by it.
    case silent
    /// No answer came by it from a name server, which may be silent itself.
    case serverSilent
  }

  /// What is at fault, if that may be anything but the target itself.
  public var blame: Blame?
  /// The gateway that the target's packets left by.
  public var gateway: Cause?
  /// What was learned of it.
  public var gatewayWord: Word
  /// The name servers that were asked; the first is the one that answered, or is blamed. Empty: none was asked, and
  /// what was known of them before stands.
  public var servers: [IPAddress]
  /// What was learned of the first of them.
  public var serverWord: Word
  /// An interface that was seen to be usable; empty when there is none.
  public var usableInterface: String
  /// Whether link and route alone were looked at: what TCP and DNS said is from before.
  public var isPathOnly: Bool

  /// Evidence; of nothing by default.
  public init(
    blame: Blame? = nil, gateway: Cause? = nil, gatewayWord: Word = .nothing, servers: [IPAddress] = [],
    serverWord: Word = .nothing, usableInterface: String = "", isPathOnly: Bool = false
  ) {
    self.blame = blame
    self.gateway = gateway
    self.gatewayWord = gatewayWord
    self.servers = servers
    self.serverWord = serverWord
    self.usableInterface = usableInterface
    self.isPathOnly = isPathOnly
  }
}
