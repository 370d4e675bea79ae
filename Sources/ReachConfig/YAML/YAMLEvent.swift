/// One event of a YAML stream, as the parser tells of it.
struct YAMLEvent {
  /// What it is. A scalar's text is a range of the composer's text.
  enum Kind {
    case streamStart
    case streamEnd
    case documentStart
    case documentEnd
    case alias(String)
    case scalar(Range<Int>, isPlain: Bool)
    case sequenceStart
    case mappingStart
    case containerEnd
  }

  var kind: Kind
  var position: TextPosition
  var anchor: String?
  var tag: String?
}

/// Why a text is no YAML.
struct YAMLSyntaxError: Error {
  /// Where the parser stopped.
  var position: TextPosition
  /// libyaml's own words for what is wrong.
  var problem: String
  /// libyaml's own words for what was being read, and where that began; nil when it does not say.
  var context: (text: String, position: TextPosition)?
}
