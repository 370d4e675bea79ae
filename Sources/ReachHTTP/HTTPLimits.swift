/// What one client may cost.
public struct HTTPLimits: Hashable, Sendable {
  /// Connections on one listening address; further ones wait in the kernel's backlog.
  public var connections: UInt32 = 128
  /// Bytes a connection keeps for the header and its reply's; a larger header is answered with 431.
  public var headerBytes = 32 * 1024
  /// Bytes of a request's body; a larger one is answered with 413.
  public var bodyBytes = 64 * 1024
  /// A connection on which nothing moves for so long is closed; whole seconds, rounded up.
  public var idle: Duration = .seconds(30)
  /// A connection that has not brought a whole request for so long is closed, however busily it sends.
  public var request: Duration = .seconds(15)
  /// A request whose handler has not answered for so long is answered with 504.
  public var reply: Duration = .seconds(30)

  /// The limits as described.
  public init() {}
}
