/// A YAML document: what was written and where.
///
/// Nodes live in one array, their children and their text in two more, so that a file of many thousand targets takes
/// three large allocations that go back to the system whole. An alias is one more reference to its anchor's node.
final class YAMLTree: Sendable {
  /// What a node is.
  enum Kind: UInt8, Sendable {
    case scalar
    case sequence
    case mapping
  }

  /// One node. Of a scalar, `start` and `count` are a range of the text; otherwise of the children, where a mapping
  /// has its keys and values in turn.
  struct Record: Sendable {
    var kind: Kind
    /// Of a scalar: whether it stands without quotes, so that its text decides what it is.
    var isPlain: Bool
    /// Of a scalar: whether its text is octets that were written in base64.
    var isBinary = false
    /// The longest way down to a leaf, counted in nodes.
    var height: UInt8
    var line: UInt32
    var column: UInt32
    var start: UInt32 = 0
    var count: UInt32 = 0
    /// How many nodes it stands for once every alias is followed.
    var weight: UInt32 = 1
  }

  let records: [Record]
  let children: [UInt32]
  let text: [UInt8]
  private let rootIndex: UInt32

  init(records: [Record], children: [UInt32], text: [UInt8], root: UInt32) {
    self.records = records
    self.children = children
    self.text = text
    self.rootIndex = root
  }

  /// The document's outermost node.
  var root: YAMLNode { YAMLNode(tree: self, index: Int(rootIndex)) }
}

/// One node of a tree.
struct YAMLNode: Sendable {
  fileprivate let tree: YAMLTree
  /// Its number in the tree: two aliases of one anchor have the same.
  let index: Int

  private var record: YAMLTree.Record { tree.records[index] }

  var kind: YAMLTree.Kind { record.kind }
  var position: TextPosition { TextPosition(line: Int(record.line), column: Int(record.column)) }
  /// Whether it is a scalar without quotes.
  var isPlain: Bool { record.kind == .scalar && record.isPlain }

  /// Whether it is a scalar with the tag `!!binary`.
  var isBinary: Bool { record.kind == .scalar && record.isBinary }

  /// The text of a scalar; empty for anything else.
  var text: String { String(decoding: octets, as: UTF8.self) }

  /// The octets of a scalar: of its text, or those that were written in base64. Empty for anything else.
  var octets: ArraySlice<UInt8> {
    guard record.kind == .scalar else { return [] }
    let start = Int(record.start)
    return tree.text[start..<start + Int(record.count)]
  }

  /// The nodes of a sequence; of a mapping, its keys and values in turn.
  private var children: ArraySlice<UInt32> {
    guard record.kind != .scalar else { return [] }
    let start = Int(record.start)
    return tree.children[start..<start + Int(record.count)]
  }

  /// How many elements a sequence, or how many keys and values together a mapping, has.
  var count: Int { record.kind == .scalar ? 0 : Int(record.count) }

  /// The elements of a sequence; none for anything else.
  var elements: some Sequence<YAMLNode> {
    let tree = tree
    let indices = record.kind == .sequence ? children : []
    return indices.lazy.map { YAMLNode(tree: tree, index: Int($0)) }
  }

  /// The keys and values of a mapping, its own before those that are merged in; none for anything else.
  var entries: [(key: YAMLNode, value: YAMLNode)] {
    guard record.kind == .mapping else { return [] }
    let indices = children
    return stride(from: indices.startIndex, to: indices.endIndex - 1, by: 2).map {
      (YAMLNode(tree: tree, index: Int(indices[$0])), YAMLNode(tree: tree, index: Int(indices[$0 + 1])))
    }
  }
}
