/// What holds for every request, whatever it asks for. A plain value; it holds secrets.
public struct HTTPPolicy: Hashable, Sendable {
  /// How connections are encrypted; nil: not at all.
  public var tls: TLSSettings?
  /// Fields that every answer's header has.
  public var headers: [HTTPRequest.Field] = []
  /// Who may ask: names, with the bcrypt hashes of their passwords (crypt(5)). Empty: everybody.
  public var users: [String: String] = [:]
  /// How many requests are answered; nil: all.
  public var rateLimit: RateLimit?

  /// Everybody may ask for everything, without TLS.
  public init() {}

  /// A bound on requests, whoever sends them.
  public struct RateLimit: Hashable, Sendable {
    /// One in this time on the average.
    public var interval: Duration
    /// So many at once; at least 1.
    public var burst: Int

    /// A bound.
    public init(interval: Duration, burst: Int) {
      self.interval = interval
      self.burst = burst
    }
  }
}
