public import ReachCore

/// Something that happened, as a value: what a log line is made of, in whatever form.
public struct LogEvent: Hashable, Sendable {
  /// A field's value.
  public enum Value: Hashable, Sendable {
    /// Any text.
    case string(String)
    /// A whole number.
    case integer(Int64)
    /// A number.
    case double(Double)
    /// A length of time, written as seconds.
    case duration(Duration)
    /// A truth.
    case boolean(Bool)
    /// Several texts.
    case strings([String])
    /// A target's own labels.
    case labels([Label])
    /// A value that does not exist.
    case null
  }

  /// One field.
  public struct Field: Hashable, Sendable {
    /// Its name, in snake case.
    public var name: String
    /// Its value.
    public var value: Value
    /// A field.
    public init(_ name: String, _ value: Value) {
      self.name = name
      self.value = value
    }
  }

  /// How much it matters.
  public var level: LogLevel
  /// The stable identifier, in snake case.
  public var id: String
  /// One sentence for people.
  public var message: String
  /// What belongs to it, in order.
  public var fields: [Field]

  /// An event.
  public init(_ level: LogLevel, _ id: String, _ message: String, fields: [Field] = []) {
    self.level = level
    self.id = id
    self.message = message
    self.fields = fields
  }

  /// The value of the field of that name; nil when there is none.
  public subscript(name: String) -> Value? { fields.first { $0.name == name }?.value }
}

/// An event with the time at which it was logged.
public struct LogRecord: Hashable, Sendable {
  /// Nanoseconds since 1970 UTC.
  public var time: Int64
  /// What happened.
  public var event: LogEvent
  /// A record.
  public init(time: Int64, event: LogEvent) {
    self.time = time
    self.event = event
  }
}

extension LogEvent.Value {
  /// A text, or `null` for none.
  static func optional(_ text: String?) -> Self { text.map(Self.string) ?? .null }
}
