/// A metric family: a name with its type and its help text, which one exposition shows once.
struct Family {
  /// The types of the text format that are used here.
  enum Kind: String {
    case gauge
    case counter
    case histogram
  }

  let name: String
  let kind: Kind
  /// `# HELP` and `# TYPE`, ready to be written.
  let header: [UInt8]
  /// The name and the opening brace, which begin every series with labels.
  let opening: [UInt8]

  init(_ name: String, _ kind: Kind, _ help: String) {
    self.name = name
    self.kind = kind
    header = Array("# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n".utf8)
    opening = Array("\(name){".utf8)
  }
}
