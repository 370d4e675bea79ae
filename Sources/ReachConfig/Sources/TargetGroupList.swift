public import ReachCore

/// Something that is wrong in a list of targets, and leaves the rest of it as it is.
public struct EntryProblem: Hashable, Sendable, CustomStringConvertible {
  /// Which entry of the list, from 1; nil for the list as a whole.
  public let entry: Int?
  /// What is wrong and what to write instead.
  public let message: String

  init(_ entry: Int?, _ message: String) {
    self.entry = entry
    self.message = message
  }

  /// `entry N: MESSAGE`.
  public var description: String { entry.map { "entry \($0): \(message)" } ?? message }
}

/// A list of targets in the format that Prometheus's `file_sd` and `http_sd` share: groups, each with `targets`, a list
/// of texts, and `labels`, a map.
public struct TargetGroupList: Hashable, Sendable {
  /// Targets with the labels they have in common.
  public struct Group: Hashable, Sendable {
    /// Its place in the list, from 1.
    public var entry: Int
    /// The targets as they were written.
    public var targets: [String]
    /// Their labels; names and values as they were written, Prometheus's own `__` labels left out.
    public var labels: [Label]
  }

  /// The groups that could be read.
  public private(set) var groups: [Group] = []
  /// What could not.
  public private(set) var problems: [EntryProblem] = []

  /// The largest list that is read, in octets: forty thousand targets with labels of their own.
  public static let sizeLimit = 8 << 20
  /// The most problems that are kept of one list.
  static let problemLimit = 100

  /// A list of nothing.
  public init() {}

  /// A list of targets without labels, each an entry of its own.
  public init(targets: [String]) {
    groups = targets.enumerated().map { Group(entry: $0 + 1, targets: [$1], labels: []) }
  }

  /// Reads a list. Throws when it is none at all: larger than `sizeLimit`, no valid JSON or YAML, or not a list.
  ///
  /// Takes memory and time in proportion to the bytes, whatever they are.
  public init(parsing bytes: [UInt8], as format: TargetFileFormat) throws(ValueError) {
    guard bytes.count <= Self.sizeLimit else {
      throw ValueError("it is larger than \(Self.sizeLimit >> 20) MiB; split it")
    }
    switch format {
    case .json: try readJSON(bytes)
    case .yaml: try readYAML(bytes)
    }
  }

  private mutating func readYAML(_ bytes: [UInt8]) throws(ValueError) {
    let list = ProblemList(file: "")
    let text: YAMLText
    do throws(YAMLText.Refusal) {
      text = try YAMLText(bytes)
    } catch {
      throw ValueError("line \(error.position.line): \(error.message)")
    }
    let tree = YAMLComposer.compose(text, problems: list)
    let found = list.sorted
    guard let tree else {
      // An empty file is an empty list, as it is to Prometheus.
      guard let first = found.first else { return }
      throw ValueError("line \(first.line): \(first.message)")
    }
    for problem in found { note(nil, "line \(problem.line): \(problem.message)") }
    try read(tree.root)
  }

  private mutating func readJSON(_ bytes: [UInt8]) throws(ValueError) {
    let document = try JSONDocument(parsing: bytes)
    try read(document.root)
  }

  // MARK: Groups

  private mutating func read<Node: GroupNode>(_ root: Node) throws(ValueError) {
    switch root.shape {
    case .null: return
    case .list: break
    case .map, .text, .other:
      throw ValueError("it is no list; write [{ \"targets\": [\"example.com:443\"], \"labels\": {} }]")
    }
    groups.reserveCapacity(min(root.count, 100_000))
    var entry = 0
    root.forEachElement { node in
      entry += 1
      if let group = group(node, entry) { groups.append(group) }
    }
  }

  private mutating func group<Node: GroupNode>(_ node: Node, _ entry: Int) -> Group? {
    guard node.shape == .map else {
      note(entry, "it is no map with 'targets' and 'labels'; write { \"targets\": [\"example.com:443\"] }")
      return nil
    }
    var group = Group(entry: entry, targets: [], labels: [])
    var hasTargets = false
    node.forEachEntry { key, value in
      switch key {
      case "targets":
        hasTargets = true
        group.targets = targets(value, entry)
      case "labels": group.labels = labels(value, entry)
      default: note(entry, "unknown key \(quoted(key)); known are targets, labels")
      }
    }
    if !hasTargets { note(entry, "it has no 'targets'; write a list of them") }
    return group
  }

  private mutating func targets<Node: GroupNode>(_ node: Node, _ entry: Int) -> [String] {
    guard node.shape != .null else { return [] }
    guard node.shape == .list else {
      note(entry, "'targets' is no list; write each in brackets, such as [\"example.com:443\"]")
      return []
    }
    var texts: [String] = []
    texts.reserveCapacity(min(node.count, 100_000))
    node.forEachElement { element in
      if case .text(let text) = element.shape {
        texts.append(text)
      } else {
        note(entry, "a target is no text; write a host or an address, such as \"example.com:443\"")
      }
    }
    return texts
  }

  private mutating func labels<Node: GroupNode>(_ node: Node, _ entry: Int) -> [Label] {
    guard node.shape != .null else { return [] }
    guard node.shape == .map else {
      note(entry, "'labels' is no map; write { \"team\": \"storage\" }")
      return []
    }
    var labels: [Label] = []
    node.forEachEntry { name, value in
      // Prometheus's own, __meta_ labels among them: of use to its relabelling only.
      if name.hasPrefix("__") { return }
      if case .text(let text) = value.shape {
        if text.utf8.contains(0) {
          note(entry, "the label \(quoted(name)) is dropped: its value holds NUL; write text alone")
          return
        }
        // To Prometheus a label that is empty is none.
        if !text.isEmpty { labels.append(Label(name: name, value: text)) }
      } else {
        note(entry, "the label \(quoted(name)) is dropped: its value is no text; put it in quotes")
      }
    }
    return labels
  }

  private mutating func note(_ entry: Int?, _ message: String) {
    if problems.count < Self.problemLimit {
      problems.append(EntryProblem(entry, message))
    } else if problems.count == Self.problemLimit {
      problems.append(EntryProblem(nil, "there are more than \(Self.problemLimit) problems; the rest is left out"))
    }
  }
}

/// One node of a list of targets, in whatever form it is written.
protocol GroupNode {
  var shape: GroupShape { get }
  /// How many elements a list has.
  var count: Int { get }
  /// The elements of a list, in order.
  func forEachElement(_ body: (Self) -> Void)
  /// The keys and values of a map, in order.
  func forEachEntry(_ body: (String, Self) -> Void)
}

/// What a node is.
enum GroupShape: Hashable {
  case null
  case text(String)
  /// A number or a truth, where those are no texts.
  case other
  case list
  case map
}

extension YAMLNode: GroupNode {
  var shape: GroupShape {
    switch kind {
    // What YAML takes for a number is a text as it was written: a port alone is no target, but a label may be one.
    case .scalar: isEmpty ? .null : .text(text)
    case .sequence: .list
    case .mapping: .map
    }
  }

  func forEachElement(_ body: (YAMLNode) -> Void) { for element in elements { body(element) } }

  func forEachEntry(_ body: (String, YAMLNode) -> Void) {
    for (key, value) in entries where key.kind == .scalar { body(key.text, value) }
  }
}
