public import ReachCore

/// What the exposition shows of the agent itself. A plain value: the agent keeps one and counts in it.
public struct AgentSeries: Sendable {
  /// The program's version.
  public var version: String
  /// The commit it was built from.
  public var revision: String
  /// The version of the Swift compiler that built it.
  public var swiftVersion: String
  /// The backends that are loaded: name and version.
  public var plugins: [(plugin: String, version: String)] = []
  /// Whether the last attempt to load the configuration succeeded; nil, and not shown, before the first.
  public var isLastReloadSuccessful: Bool?
  /// When the configuration was last loaded, in nanoseconds since 1970 UTC.
  public var lastReloadSuccess: Int64?
  /// How late rounds started.
  public var scheduleLag = Histogram()
  /// From a kernel event's arrival to the publication of the status it led to.
  public var eventToStatus = Histogram()
  /// Rounds that were not started since the one before was still going.
  public var roundsSkipped: UInt64 = 0
  /// Times the kernel's event queue overran.
  public var netlinkOverruns: UInt64 = 0
  /// Times all interfaces were read anew after an overrun.
  public var netlinkResyncs: UInt64 = 0
  /// Log lines that were lost.
  public var logDropped: UInt64 = 0

  /// The sources of discovered targets, in the order of the configuration.
  public var sources: [SourceSeries] = []

  /// Changes of status that could not be kept; nil, and not shown, where none are to be.
  public var stateLost: UInt64?
  /// Requests to `/probe` for a module that there is not; nil, and not shown, where there are no modules.
  public var moduleUnknown: UInt64?

  /// Keeps native histograms beside the others from now on: for a scrape in protocol buffers. What was counted before is
  /// in them as well.
  public mutating func keepNativeHistograms() {
    scheduleLag.keepNative()
    eventToStatus.keepNative()
  }

  private(set) var netlinkMessages: [(type: String, count: UInt64)] = []
  private(set) var requests: [(path: String, code: Int, count: UInt64)] = []

  /// An agent that has just been started.
  public init(version: String, revision: String, swiftVersion: String) {
    self.version = version
    self.revision = revision
    self.swiftVersion = swiftVersion
  }

  /// Counts kernel messages of a type, such as `RTM_NEWLINK`. Types beyond the 64th count as `other`.
  public mutating func recordNetlinkMessage(type: String, count: UInt64 = 1) {
    if let index = netlinkMessages.firstIndex(where: { $0.type == type }) {
      netlinkMessages[index].count &+= count
    } else if netlinkMessages.count < 64 || type == "other" {
      let place = netlinkMessages.firstIndex { $0.type > type } ?? netlinkMessages.count
      netlinkMessages.insert((type, count), at: place)
    } else {
      recordNetlinkMessage(type: "other", count: count)
    }
  }

  /// Sets the count of kernel messages of a type, where somebody else keeps it.
  public mutating func setNetlinkMessages(type: String, count: UInt64) {
    if let index = netlinkMessages.firstIndex(where: { $0.type == type }) {
      netlinkMessages[index].count = count
    } else {
      recordNetlinkMessage(type: type, count: count)
    }
  }

  /// Counts an answered HTTP request. `path` is one of the routes' own, never a client's text; pairs of path and code
  /// beyond the 256th count under `other`.
  public mutating func recordRequest(path: String, code: Int) {
    if let index = requests.firstIndex(where: { $0.path == path && $0.code == code }) {
      requests[index].count &+= 1
    } else if requests.count < 256 || (path == "other" && requests.count < 512) {
      let place = requests.firstIndex { $0.path > path || ($0.path == path && $0.code > code) }
      requests.insert((path, code, 1), at: place ?? requests.count)
    } else if path != "other" {
      recordRequest(path: "other", code: code)
    }
  }
}

/// What the exposition shows of one interface of this host.
public struct LinkSample: Hashable, Sendable {
  /// Its name.
  public var interface: String
  /// Its kind of network.
  public var medium: Medium
  /// The kernel's word for how it operates.
  public var operState: OperState
  /// Whether it can be used.
  public var isUp: Bool
  /// How often its carrier came or went (IFLA_CARRIER_CHANGES); nil where the kernel does not say.
  public var carrierChanges: UInt32?

  /// An interface.
  public init(interface: String, medium: Medium, operState: OperState, isUp: Bool, carrierChanges: UInt32? = nil) {
    self.interface = interface
    self.medium = medium
    self.operState = operState
    self.isUp = isUp
    self.carrierChanges = carrierChanges
  }
}
