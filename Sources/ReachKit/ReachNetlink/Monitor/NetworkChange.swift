public import ReachCore

/// What a batch of the kernel's messages was about: a reason to look at targets again.
public struct NetworkChange: Hashable, Sendable {
  /// Kinds of change.
  public struct Kinds: OptionSet, Hashable, Sendable {
    /// One bit a kind.
    public let rawValue: UInt16
    /// A set of those bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// An interface came, went, or looks different.
    public static let link = Kinds(rawValue: 1)
    /// An address of this host came or went. Routes may have gone with it, of which nothing is told.
    public static let address = Kinds(rawValue: 2)
    /// A route came or went.
    public static let route = Kinds(rawValue: 4)
    /// A rule of policy routing came or went.
    public static let rule = Kinds(rawValue: 8)
    /// A nexthop object came or went. The routes through it may have gone, of which nothing is told.
    public static let nexthop = Kinds(rawValue: 16)
    /// A setting such as forwarding or `ignore_routes_with_linkdown` changed.
    public static let netconf = Kinds(rawValue: 32)
    /// Messages were lost: anything may have changed.
    public static let resync = Kinds(rawValue: 64)
    /// An interface's carrier came and went, or went and came, and its state is what it was before the batch.
    public static let flap = Kinds(rawValue: 128)
  }

  /// The most interfaces that `links` names.
  public static let mostLinks = 64

  /// Everything that changed.
  public var kinds: Kinds
  /// The indices of the interfaces that came, went or look different, or whose addresses changed; each once, in the order
  /// of the messages.
  ///
  /// It says whom to look at first, not whom to leave out: empty when no message named one, and when more than
  /// `mostLinks` did.
  public var links: [Int32]
  /// When the batch was read, on the loop's clock.
  public var receivedAt: Instant
  /// How long reading everything anew took, when messages had been lost.
  public var resyncDuration: Duration?

  /// A change.
  public init(kinds: Kinds, links: [Int32] = [], receivedAt: Instant, resyncDuration: Duration? = nil) {
    self.kinds = kinds
    self.links = links
    self.receivedAt = receivedAt
    self.resyncDuration = resyncDuration
  }
}
