/// The keys and values of one map of the file. Making it notes every key that is not known.
struct Fields {
  private struct Field {
    let key: String
    let keyNode: YAMLNode
    let value: YAMLNode
  }

  let position: TextPosition
  /// Whether there is a map at all, though it be an empty one.
  let isMap: Bool
  private var fields: [Field] = []
  /// Where each key is among the fields, once there are so many that a search would be slow.
  private var places: [String: Int] = [:]
  private static let manyFields = 32

  /// Reads the map; anything else, apart from an empty value, is an error. With `known` empty, every key is.
  init(
    _ node: YAMLNode, in section: String, known: [String], ignoring prefix: String? = nil, problems: ProblemList
  ) {
    position = node.position
    isMap = node.kind == .mapping
    guard node.kind == .mapping else {
      if !node.isEmpty {
        problems.error("\(section) must be a map of keys and values, not \(node.whatItIs)", at: node.position)
      }
      return
    }
    let entries = node.entries
    fields.reserveCapacity(entries.count)
    for (key, value) in entries where key.kind == .scalar {
      if key.isBinary { problems.error("a key must be a plain word; remove the tag '!!binary'", at: key.position) }
      let name = key.text
      if let prefix, name.hasPrefix(prefix) { continue }
      guard known.isEmpty || known.contains(name) else {
        // Looking for what was meant takes time, and nobody would see it.
        let hint = problems.isFull ? nil : closest(to: name, among: known).map { "did you mean '\($0)'?" }
        problems.error(
          "unknown key \(quoted(name)) in \(section); \(hint ?? "known are \(known.joined(separator: ", "))")",
          at: key.position)
        continue
      }
      // A key that was given twice has been noted; the first one counts.
      guard place(of: name) == nil else { continue }
      if entries.count > Self.manyFields { places[name] = fields.count }
      fields.append(Field(key: name, keyNode: key, value: value))
    }
  }

  private func place(of key: String) -> Int? {
    places.isEmpty ? fields.firstIndex { $0.key == key } : places[key]
  }

  /// The value of the key, if it is there.
  subscript(key: String) -> YAMLNode? { place(of: key).map { fields[$0].value } }
  /// Where the key stands; where the map begins, if it is not there.
  func position(of key: String) -> TextPosition {
    place(of: key).map { fields[$0].keyNode.position } ?? position
  }
  /// Every key that is known, in the order of the file.
  var keys: [String] { fields.map(\.key) }
}

extension YAMLNode {
  /// Whether it is an empty value, or `null` by name.
  var isEmpty: Bool { isPlain && CoreScalar(text) == .null }

  /// The node in the words of a message.
  var whatItIs: String {
    switch kind {
    case .scalar: isEmpty ? "nothing" : "the text \(quoted(text))"
    case .sequence: "a list"
    case .mapping: "a map"
    }
  }
}
