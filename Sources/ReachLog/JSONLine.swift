internal import ReachCore

/// A record as one JSON object: time, level, event and message first, then the event's own fields.
enum JSONLine {
  static func append(_ record: LogRecord, to bytes: inout [UInt8]) {
    let event = record.event
    var writer = JSONWriter(appendingTo: bytes)
    writer.beginObject()
    writer.key("time")
    writer.value(Timestamp(nanosecondsSinceEpoch: record.time).description)
    writer.key("level")
    writer.value(event.level.rawValue)
    writer.key("event")
    writer.value(event.id)
    writer.key("message")
    writer.value(event.message)
    for field in event.fields {
      writer.key(field.name)
      write(field.value, to: &writer)
    }
    writer.endObject()
    bytes = writer.bytes
  }

  private static func write(_ value: LogEvent.Value, to writer: inout JSONWriter) {
    switch value {
    case .string(let text): writer.value(text)
    case .integer(let number): writer.value(number)
    case .double(let number): writer.value(number)
    case .duration(let duration): writer.value(duration.inSeconds)
    case .boolean(let truth): writer.value(truth)
    case .strings(let texts):
      writer.beginArray()
      for text in texts { writer.value(text) }
      writer.endArray()
    case .labels(let labels):
      writer.beginObject()
      for label in labels {
        writer.key(label.name)
        writer.value(label.value)
      }
      writer.endObject()
    case .null: writer.null()
    }
  }
}
