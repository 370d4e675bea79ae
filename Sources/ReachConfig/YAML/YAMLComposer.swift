/// Builds a tree from a YAML text: follows anchors, aliases and merges, and keeps both within bounds.
///
/// An alias costs one reference, so memory is bounded by the file. The time that reading the tree takes is bounded by
/// counting, at each alias, the nodes that it stands for.
struct YAMLComposer {
  /// The nodes a document may stand for once every alias is followed.
  static let weightLimit = 1_000_000
  /// How deep nodes may lie within one another.
  static let depthLimit = 64

  /// Ends the composing; the problem has been noted.
  private struct Stop: Error {}

  /// A sequence or mapping that is still open.
  private struct Frame {
    var kind: YAMLTree.Kind
    var position: TextPosition
    var anchor: String?
    /// Where its children begin in `pending`.
    var base: Int
    var weight = 1
    var height = 1
  }

  private enum Anchor {
    case open
    case complete(UInt32)
  }

  private let problems: ProblemList
  private var records: [YAMLTree.Record] = []
  private var children: [UInt32] = []
  private var text: [UInt8] = []
  private var frames: [Frame] = []
  private var pending: [UInt32] = []
  private var anchors: [String: Anchor] = [:]
  private var root: UInt32?

  private init(problems: ProblemList) { self.problems = problems }

  /// The tree of the text; nil when it is empty, or cannot be read, which the problems then say.
  static func compose(_ source: YAMLText, problems: ProblemList) -> YAMLTree? {
    var composer = YAMLComposer(problems: problems)
    return unsafe source.bytes.withUnsafeBufferPointer { input in
      guard var reader = unsafe YAMLEventReader(input) else {
        problems.error("there is no memory to read the file", at: .start)
        return nil
      }
      do {
        try composer.run(&reader)
      } catch let error as YAMLSyntaxError {
        let (message, position) = error.explained(in: source)
        problems.error(message, at: position)
        return nil
      } catch {
        return nil
      }
      return composer.tree()
    }
  }

  private func tree() -> YAMLTree? {
    root.map { YAMLTree(records: records, children: children, text: text, root: $0) }
  }

  private mutating func run(_ reader: inout YAMLEventReader) throws {
    var documents = 0
    while true {
      let event = try reader.next(text: &text)
      switch event.kind {
      case .streamStart, .documentEnd: continue
      case .streamEnd: return
      case .documentStart:
        documents += 1
        if documents > 1 {
          problems.error("a second document begins here; keep one, and remove the rest", at: event.position)
          return
        }
      case .alias(let name): try resolve(name, at: event.position)
      case .scalar(let range, let isPlain): try addScalar(event, range, isPlain)
      case .sequenceStart: try open(.sequence, event)
      case .mappingStart: try open(.mapping, event)
      case .containerEnd: try close()
      }
    }
  }

  // MARK: Nodes

  private mutating func addScalar(_ event: YAMLEvent, _ range: Range<Int>, _ isPlain: Bool) throws {
    let isText = checkTag(event, allowed: ["str", "int", "float", "bool", "null", "binary"])
    let isBinary = event.tag == "tag:yaml.org,2002:binary"
    let range = isBinary ? decodeBase64(range, at: event.position) : range
    var record = YAMLTree.Record(
      kind: .scalar, isPlain: isPlain && !isText && !isBinary, isBinary: isBinary, height: 1,
      line: UInt32(clamping: event.position.line), column: UInt32(clamping: event.position.column))
    record.start = UInt32(clamping: range.lowerBound)
    record.count = UInt32(clamping: range.count)
    let index = append(record)
    if let anchor = event.anchor { anchors[anchor] = .complete(index) }
    try attach(index)
  }

  /// Puts the octets in place of the base64 (RFC 4648 section 4, with white space) at the end of the text.
  private mutating func decodeBase64(_ range: Range<Int>, at position: TextPosition) -> Range<Int> {
    let octets = Base64.decode(text[range])
    if octets == nil { problems.error("this is not base64, which the tag '!!binary' takes", at: position) }
    text.replaceSubrange(range, with: octets ?? [])
    return range.lowerBound..<range.lowerBound + (octets?.count ?? 0)
  }

  private mutating func open(_ kind: YAMLTree.Kind, _ event: YAMLEvent) throws {
    _ = checkTag(event, allowed: [kind == .sequence ? "seq" : "map"])
    guard frames.count < Self.depthLimit else { throw tooDeep(event.position) }
    if let anchor = event.anchor { anchors[anchor] = .open }
    frames.append(Frame(kind: kind, position: event.position, anchor: event.anchor, base: pending.count))
  }

  private mutating func close() throws {
    guard let frame = frames.popLast() else { return }
    var own = Array(pending[frame.base...])
    pending.removeSubrange(frame.base...)
    var weight = frame.weight
    if frame.kind == .mapping {
      checkKeys(own)
      try merge(into: &own, weight: &weight)
    }
    var record = YAMLTree.Record(
      kind: frame.kind, isPlain: false, height: UInt8(clamping: frame.height),
      line: UInt32(clamping: frame.position.line), column: UInt32(clamping: frame.position.column))
    record.start = UInt32(clamping: children.count)
    record.count = UInt32(clamping: own.count)
    record.weight = UInt32(clamping: weight)
    children.append(contentsOf: own)
    let index = append(record)
    if let anchor = frame.anchor { anchors[anchor] = .complete(index) }
    try attach(index)
  }

  private mutating func resolve(_ name: String, at position: TextPosition) throws {
    switch anchors[name] {
    case .complete(let index):
      let height = Int(records[Int(index)].height)
      guard frames.count + height <= Self.depthLimit else { throw tooDeep(position) }
      try attach(index, at: position)
    case .open:
      problems.error("the alias *\(name) stands inside of what it refers to; that would never end", at: position)
      throw Stop()
    case nil:
      let known = anchors.keys.sorted()
      let hint =
        closest(to: name, among: known).map { "; did you mean '*\($0)'?" }
        ?? "; put a text that begins with '*' in quotes"
      problems.error("no anchor &\(name) stands before this alias\(hint)", at: position)
      throw Stop()
    }
  }

  private mutating func append(_ record: YAMLTree.Record) -> UInt32 {
    records.append(record)
    return UInt32(clamping: records.count - 1)
  }

  /// Puts a node into the container that is open.
  private mutating func attach(_ index: UInt32, at position: TextPosition? = nil) throws {
    guard !frames.isEmpty else {
      root = index
      return
    }
    let record = records[Int(index)]
    let top = frames.count - 1
    frames[top].weight += Int(record.weight)
    frames[top].height = max(frames[top].height, Int(record.height) + 1)
    guard frames[top].weight <= Self.weightLimit else {
      throw tooLarge(position ?? TextPosition(line: Int(record.line), column: Int(record.column)))
    }
    pending.append(index)
  }

  private func tooDeep(_ position: TextPosition) -> any Error {
    problems.error("values lie more than \(Self.depthLimit) deep within one another here; flatten them", at: position)
    return Stop()
  }

  private func tooLarge(_ position: TextPosition) -> any Error {
    problems.error(
      "the file comes to more than \(Self.weightLimit) values here, with every alias followed; use fewer aliases",
      at: position)
    return Stop()
  }

  /// Refuses a tag that is none of YAML's own. Whether the tag makes text of the node, as quotes would.
  private func checkTag(_ event: YAMLEvent, allowed: [String]) -> Bool {
    guard let tag = event.tag else { return false }
    if tag == "!" || tag == "tag:yaml.org,2002:str" { return true }
    if !allowed.contains(where: { tag == "tag:yaml.org,2002:\($0)" }) {
      let core = "tag:yaml.org,2002:"
      let written = tag.hasPrefix(core) ? "!!" + tag.dropFirst(core.count) : tag
      problems.error("the tag \(quoted(written)) is not supported; remove it", at: event.position)
    }
    return false
  }

  // MARK: Mappings

  private func node(_ index: UInt32) -> YAMLTree.Record { records[Int(index)] }

  private func key(_ index: UInt32) -> ArraySlice<UInt8> {
    let record = node(index)
    guard record.kind == .scalar else { return [] }
    return text[Int(record.start)..<Int(record.start) + Int(record.count)]
  }

  private func checkKeys(_ own: [UInt32]) {
    // In a small map, looking through the keys before is quicker than a table of them.
    let isSmall = own.count <= 32
    var lines: [ArraySlice<UInt8>: UInt32] = [:]
    for position in stride(from: 0, to: own.count, by: 2) {
      let record = node(own[position])
      let place = TextPosition(line: Int(record.line), column: Int(record.column))
      guard record.kind == .scalar else {
        problems.error("a key must be a plain word; quote the whole of it if it holds brackets", at: place)
        continue
      }
      let name = key(own[position])
      let first = isSmall ? line(of: name, among: own[..<position]) : lines[name]
      if let first {
        let text = quoted(String(decoding: name, as: UTF8.self))
        problems.error("the key \(text) is already given on line \(first); remove one of them", at: place)
      } else if !isSmall {
        lines[name] = record.line
      }
    }
  }

  private func line(of name: ArraySlice<UInt8>, among own: ArraySlice<UInt32>) -> UInt32? {
    for position in stride(from: own.startIndex, to: own.endIndex, by: 2) {
      let record = node(own[position])
      if record.kind == .scalar, Int(record.count) == name.count, key(own[position]) == name { return record.line }
    }
    return nil
  }

  /// Takes `<<` out of the keys and values, and puts in what it names: explicit keys win, and of several maps the
  /// first that has a key (https://yaml.org/type/merge.html).
  private mutating func merge(into own: inout [UInt32], weight: inout Int) throws {
    let mergeKey = Array("<<".utf8)
    guard
      let position = stride(from: 0, to: own.count, by: 2).first(where: {
        node(own[$0]).isPlain && key(own[$0]).elementsEqual(mergeKey)
      })
    else { return }
    let value = own[position + 1]
    own.removeSubrange(position...position + 1)
    let sources = node(value).kind == .sequence ? Array(childIndices(value)) : [value]
    var known = Set(stride(from: 0, to: own.count, by: 2).map { key(own[$0]) })
    for source in sources {
      let record = node(source)
      let place = TextPosition(line: Int(record.line), column: Int(record.column))
      guard record.kind == .mapping else {
        problems.error("'<<' takes a map, or a list of maps, such as '<<: *anchor'", at: place)
        continue
      }
      let pairs = childIndices(source)
      weight += pairs.reduce(0) { $0 + Int(node($1).weight) }
      guard weight <= Self.weightLimit else { throw tooLarge(place) }
      for first in stride(from: pairs.startIndex, to: pairs.endIndex, by: 2)
      where known.insert(key(pairs[first])).inserted {
        own += pairs[first...first + 1]
      }
    }
  }

  private func childIndices(_ index: UInt32) -> ArraySlice<UInt32> {
    let record = node(index)
    return children[Int(record.start)..<Int(record.start) + Int(record.count)]
  }
}
