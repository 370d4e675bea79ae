public import ReachCore

/// One option of a backend: its name, what values it takes, and what it is when it is left out.
public struct ProbeOption: Hashable, Sendable {
  /// What values an option takes.
  public enum Kind: Hashable, Sendable {
    /// Any text.
    case string
    /// A whole number within the range.
    case integer(ClosedRange<Int>)
    /// `true` or `false`.
    case boolean
    /// A duration above zero.
    case duration
    /// One of these words.
    case choice([String])
    /// `address`, `address:port` or `[v6]:port`.
    case endpoint
    /// Several endpoints; one may stand without the list's brackets.
    case endpoints
  }

  /// The key in the configuration.
  public let name: String
  /// What values it takes.
  public let kind: Kind
  /// Its value when it is left out; nil when it then has none.
  public let defaultValue: OptionValue?
  /// One line for people.
  public let summary: String

  /// An option.
  public init(_ name: String, _ kind: Kind, default defaultValue: OptionValue? = nil, summary: String) {
    self.name = name
    self.kind = kind
    self.defaultValue = defaultValue
    self.summary = summary
  }
}

/// An option's value.
public enum OptionValue: Hashable, Sendable {
  /// Of a `string` or a `choice`.
  case string(String)
  /// Of an `integer`.
  case integer(Int)
  /// Of a `boolean`.
  case boolean(Bool)
  /// Of a `duration`.
  case duration(Duration)
  /// Of an `endpoint`.
  case endpoint(OptionEndpoint)
  /// Of `endpoints`.
  case endpoints([OptionEndpoint])
}

/// An address with a port that may be left out.
public struct OptionEndpoint: Hashable, Sendable {
  /// The address.
  public let address: IPAddress
  /// The port, if it was written.
  public let port: UInt16?
  /// An endpoint.
  public init(address: IPAddress, port: UInt16?) {
    self.address = address
    self.port = port
  }
}

/// The options of one backend for one target: those of the target, then those of `backends:`, then the defaults.
public struct OptionValues: Hashable, Sendable {
  private let values: [String: OptionValue]

  /// Values by option name.
  public init(_ values: [String: OptionValue] = [:]) { self.values = values }

  /// The value of the option, whatever its kind.
  public subscript(name: String) -> OptionValue? { values[name] }
  /// The text of a `string` or `choice` option.
  public func string(_ name: String) -> String? { if case .string(let value) = values[name] { value } else { nil } }
  /// The number of an `integer` option.
  public func integer(_ name: String) -> Int? { if case .integer(let value) = values[name] { value } else { nil } }
  /// The truth of a `boolean` option.
  public func boolean(_ name: String) -> Bool? { if case .boolean(let value) = values[name] { value } else { nil } }
  /// The length of a `duration` option.
  public func duration(_ name: String) -> Duration? {
    if case .duration(let value) = values[name] { value } else { nil }
  }
  /// The endpoint of an `endpoint` option.
  public func endpoint(_ name: String) -> OptionEndpoint? {
    if case .endpoint(let value) = values[name] { value } else { nil }
  }
  /// The endpoints of an `endpoints` option; empty when it has none.
  public func endpoints(_ name: String) -> [OptionEndpoint] {
    if case .endpoints(let value) = values[name] { value } else { [] }
  }
}
