import ReachTestSupport
import Testing

@testable import ReachConfig

/// PyYAML's own test data: files made to be hard for a reader of YAML.
@Suite(
  .enabled(if: PythonPackages.areAvailable, "\(PythonPackages.requirement)"), .timeLimit(.minutes(4)))
struct CorpusTests {
  private static func folder() throws -> String { try PythonPackages.source("PyYAML") + "/tests/legacy_tests/data" }

  /// What PyYAML makes of every file: `!` and why not, or the values in order, scalars in hexadecimal, aliases followed
  /// and merges done as we do them.
  private static let program = """
    import os, sys
    home = sys.stdin.readline().strip()
    sys.path.insert(0, home + '/lib')
    import yaml
    data = home + '/tests/legacy_tests/data'

    def pairs(node):
      merged, known, sources = [], set(), []
      for key, value in node.value:
        if isinstance(key, yaml.ScalarNode) and key.value == '<<' and not key.style:
          sources = value.value if isinstance(value, yaml.SequenceNode) else [value]
        else:
          known.add(key.value if isinstance(key, yaml.ScalarNode) else id(key))
          merged.append((key, value))
      for source in sources:
        for key, value in pairs(source):
          name = key.value if isinstance(key, yaml.ScalarNode) else id(key)
          if name not in known:
            known.add(name)
            merged.append((key, value))
      return merged

    def walk(node, above, out):
      if id(node) in above: raise ValueError('recursive')
      above = above | {id(node)}
      if isinstance(node, yaml.ScalarNode):
        out.append('s' + node.value.encode('utf-8', 'surrogatepass').hex())
      elif isinstance(node, yaml.SequenceNode):
        out.append('[')
        for child in node.value: walk(child, above, out)
        out.append(']')
      else:
        out.append('{')
        for key, value in pairs(node):
          walk(key, above, out)
          walk(value, above, out)
        out.append('}')

    for name in sorted(os.listdir(data)):
      try:
        with open(data + '/' + name, 'rb') as file: text = file.read()
        documents = list(yaml.compose_all(text, Loader=yaml.BaseLoader))
        out = []
        if len(documents) > 1: raise ValueError('documents')
        for document in documents: walk(document, frozenset(), out)
        print(name, *out)
      except Exception as error:
        print(name, '!', type(error).__name__)
    """

  /// The values of a text in the same form, and the problems with it.
  private static func read(_ bytes: [UInt8]) -> (values: [String]?, problems: [String]) {
    let list = ProblemList(file: "F")
    guard let text = try? YAMLText(bytes) else { return (nil, ["it is no text"]) }
    let tree = YAMLComposer.compose(text, problems: list)
    var values: [String] = []
    if let tree { walk(tree.root, into: &values) }
    return (values, list.sorted.map(\.message))
  }

  private static func walk(_ node: YAMLNode, into values: inout [String]) {
    switch node.kind {
    case .scalar:
      let digits = node.text.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
      values.append("s" + digits.joined())
    case .sequence:
      values.append("[")
      for element in node.elements { walk(element, into: &values) }
      values.append("]")
    case .mapping:
      values.append("{")
      for (key, value) in node.entries {
        walk(key, into: &values)
        walk(value, into: &values)
      }
      values.append("}")
    }
  }

  /// Why we refuse what PyYAML reads, each a rule of the interface or of libyaml.
  private static let rules = [
    "a second document begins here", "the tag ", "a key must be a plain word", "is already given on line",
    "it is no text", "the alias *", "no anchor &", "'<<' takes a map", "a tab indents this line",
    "invalid Unicode character escape", "unknown directive name", "unexpected ':' while scanning a plain scalar",
  ]

  /// Files in which the two readers differ, and YAML is on our side: an anchor may be given again, what stands behind a
  /// byte order mark is a comment, and we decode what is tagged as binary.
  private static let exceptions: Set = [
    "duplicate-anchor-1.loader-error", "duplicate-anchor-2.loader-error", "spec-05-02-utf8.data",
    "construct-binary-py2.data", "construct-binary-py3.data",
  ]

  @Test("every file is answered, whoever reads it, and those that we take have the values that PyYAML sees in them")
  func corpus() throws {
    let folder = try Self.folder()
    let result = try PythonPackages.run(Self.program, input: try PythonPackages.source("PyYAML") + "\n")
    #expect(result.isSuccess, "\(result.output)")
    let lines = result.output.split(separator: "\n")
    #expect(lines.count > 400, "\(lines.count) files")
    var same = 0
    for line in lines {
      let words = line.split(separator: " ").map(String.init)
      guard let name = words.first else { continue }
      let bytes = ConfigurationFiles.bytes("\(folder)/\(name)")
      _ = ConfigurationFiles.resolve(bytes, file: name)
      _ = try? TargetGroupList(parsing: bytes, as: .yaml)
      _ = try? TargetGroupList(parsing: bytes, as: .json)
      let ours = Self.read(bytes)
      if Self.exceptions.contains(name) { continue }
      let isRead = words.dropFirst().first != "!"
      if ours.problems.isEmpty, isRead {
        #expect(ours.values == Array(words.dropFirst()), "\(name)")
        same += 1
      } else if isRead {
        #expect(
          ours.problems.allSatisfy { problem in Self.rules.contains { problem.contains($0) } },
          "\(name): \(ours.problems)")
      } else if ours.problems.isEmpty {
        Issue.record("\(name): PyYAML refuses it with \(words.last ?? ""), and we read it")
      }
    }
    #expect(same > 150, "\(same) files have the same values")
  }
}
