internal import CYAML

/// libyaml's event parser over one text.
///
/// All that is unsafe about libyaml stays in here: no pointer of its leaves.
@safe struct YAMLEventReader: ~Copyable {
  private let parser: UnsafeMutablePointer<yaml_parser_t>

  /// A reader of this text, which must outlive it. Nil when there is no memory.
  init?(_ input: UnsafeBufferPointer<UInt8>) {
    unsafe parser = .allocate(capacity: 1)
    guard unsafe yaml_parser_initialize(parser) == 1 else {
      unsafe parser.deallocate()
      return nil
    }
    // Chosen here: left to itself, libyaml would look for a byte order mark, which has been dealt with.
    unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    unsafe yaml_parser_set_input_string(parser, input.baseAddress, input.count)
  }

  deinit {
    unsafe yaml_parser_delete(parser)
    unsafe parser.deallocate()
  }

  /// The next event; the text of a scalar is appended to `text`.
  mutating func next(text: inout [UInt8]) throws(YAMLSyntaxError) -> YAMLEvent {
    var event = unsafe yaml_event_t()
    guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw syntaxError() }
    defer { unsafe yaml_event_delete(&event) }
    var result = YAMLEvent(kind: .streamEnd, position: unsafe Self.position(event.start_mark))
    switch unsafe event.type {
    case YAML_STREAM_START_EVENT: result.kind = .streamStart
    case YAML_DOCUMENT_START_EVENT: result.kind = .documentStart
    case YAML_DOCUMENT_END_EVENT: result.kind = .documentEnd
    case YAML_ALIAS_EVENT: unsafe result.kind = .alias(Self.string(event.data.alias.anchor) ?? "")
    case YAML_SCALAR_EVENT:
      let start = text.count
      if let value = unsafe event.data.scalar.value {
        unsafe text.append(contentsOf: UnsafeBufferPointer(start: value, count: event.data.scalar.length))
      }
      let isPlain = unsafe event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE
      result.kind = .scalar(start..<text.count, isPlain: isPlain)
      unsafe result.anchor = Self.string(event.data.scalar.anchor)
      unsafe result.tag = Self.string(event.data.scalar.tag)
    case YAML_SEQUENCE_START_EVENT:
      result.kind = .sequenceStart
      unsafe result.anchor = Self.string(event.data.sequence_start.anchor)
      unsafe result.tag = Self.string(event.data.sequence_start.tag)
    case YAML_MAPPING_START_EVENT:
      result.kind = .mappingStart
      unsafe result.anchor = Self.string(event.data.mapping_start.anchor)
      unsafe result.tag = Self.string(event.data.mapping_start.tag)
    case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: result.kind = .containerEnd
    default: result.kind = .streamEnd
    }
    return result
  }

  private func syntaxError() -> YAMLSyntaxError {
    let problem = unsafe parser.pointee.problem.map { unsafe String(cString: $0) } ?? "out of memory"
    let context = unsafe parser.pointee.context.map { unsafe String(cString: $0) }
    return unsafe YAMLSyntaxError(
      position: Self.position(parser.pointee.problem_mark), problem: problem,
      context: context.map { unsafe ($0, Self.position(parser.pointee.context_mark)) })
  }

  private static func position(_ mark: yaml_mark_t) -> TextPosition {
    TextPosition(line: Int(clamping: mark.line) &+ 1, column: Int(clamping: mark.column) &+ 1)
  }

  private static func string(_ text: UnsafeMutablePointer<yaml_char_t>?) -> String? {
    unsafe text.map { unsafe String(cString: $0) }
  }
}
