/// What a module with the backend `dns` does.
public struct DNSModule: Hashable, Sendable {
  /// How the query travels.
  public enum Transport: String, Hashable, Sendable, CaseIterable {
    /// RFC 1035 section 4.2.1.
    case udp
    /// RFC 1035 section 4.2.2.
    case tcp
  }

  /// What the records of one section of the answer must be, or must not be, as text.
  public struct RecordRules: Hashable, Sendable {
    /// No record may match any of these.
    public var failIfMatches: [RegularExpression] = []
    /// Every record must match every one of these: against its name, but as blackbox_exporter has it.
    public var failIfAllMatch: [RegularExpression] = []
    /// Every record must match every one of these, and there must be a record.
    public var failIfNotMatches: [RegularExpression] = []
    /// Some record must match one of these.
    public var failIfNoneMatches: [RegularExpression] = []
    /// No rules.
    public init() {}
    /// Whether there are none.
    public var isEmpty: Bool { self == RecordRules() }
  }

  /// Which address of the name server is asked, and from where.
  public var addressing = ModuleAddressing()
  /// How the query travels.
  public var transport = Transport.udp
  /// Whether it travels over TLS (RFC 7858).
  public var usesTLS = false
  /// How TLS is done.
  public var tls = TLSClientSettings()
  /// The name that is asked for, as it was written.
  public var queryName: String
  /// The type that is asked for (RFC 1035 section 3.2.2); 255 is any.
  public var queryType: UInt16 = 255
  /// The class that is asked for (RFC 1035 section 3.2.4); 1 is the Internet.
  public var queryClass: UInt16 = 1
  /// Whether the server is asked to ask others.
  public var wantsRecursion = true
  /// The answer codes that are good (RFC 1035 section 4.1.1).
  public var validCodes: [UInt16] = [0]
  /// What the answers must be.
  public var answer = RecordRules()
  /// What the authority records must be.
  public var authority = RecordRules()
  /// What the additional records must be.
  public var additional = RecordRules()

  /// A question with everything else as blackbox_exporter has it.
  public init(queryName: String) { self.queryName = queryName }
}
