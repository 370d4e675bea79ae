/// What one client may cost.
public struct HTTPLimits: Hashable, Sendable {
  /// Connections on one listening address; further ones wait in the kernel's backlog. At the limit the one that has been
  /// idle longest makes way, and `request`, `answer` and `idle` are a third of what they say.
  public var connections: UInt32 = 128
  /// Connections from one IP address; a further one is closed at once. Unix sockets know no addresses and have none.
  public var connectionsPerAddress: UInt32 = 32
  /// Bytes a connection keeps for the header and its reply's; a larger header is answered with 431.
  public var headerBytes = 32 * 1024
  /// Bytes of a request's body; a larger one is answered with 413.
  public var bodyBytes = 64 * 1024
  /// How long a connection is kept for another request; whole seconds, rounded up. Above a minute, so that a scrape each
  /// minute finds its connection again.
  public var idle: Duration = .seconds(75)
  /// How long a whole request may take, body included; a connection that has brought none by then is closed, however
  /// busily it sends.
  public var request: Duration = .seconds(15)
  /// A request whose handler has not answered for so long is answered with 504.
  public var reply: Duration = .seconds(30)
  /// An answer that a client makes no room for during so long is cut: about 5 KiB a second are enough, given what the
  /// kernel holds. Otherwise a reader of one byte a second would keep its place for days.
  public var answer: Duration = .seconds(15)

  /// The limits as described.
  public init() {}
}
