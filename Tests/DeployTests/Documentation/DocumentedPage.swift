import ReachTestSupport

/// A page of the documentation with what it tells its readers to type, in the order of the page.
struct DocumentedPage: Sendable {
  /// What a reader does at one place of a page.
  enum Step: Sendable {
    /// Types commands.
    case commands(Block)
    /// Saves the block as the file of this path; it follows the hint `<!-- save PATH -->`.
    case save(text: String, path: String)
    /// Has a file that the page does not show: `<!-- copy SOURCE PATH -->`, the source from the top of the tree on.
    case copy(source: String, path: String)
  }

  /// Commands that stand in one block, with the hints before it.
  struct Block: Sendable {
    var commands: [Command] = []
    /// The exit status that the last command of the block has: `<!-- exit 1 -->`; 0 without that hint.
    var status: Int32 = 0
    /// What is done to the network before: `<!-- stage NAME -->`.
    var stage: String?
    /// The commands run on until the page has ended: `<!-- keeps running -->`.
    var keepsRunning = false
  }

  /// One command, with what the page shows of its output.
  struct Command: Sendable {
    let page: String
    /// The number of its first line.
    let line: Int
    /// As it is typed, over several lines where a line ends with a backslash.
    var text: String
    /// What the page shows that it prints, line by line; nil where the page shows nothing.
    var output: [String]?
    /// Where the page says it is typed.
    var place: String { "\(page):\(line)" }
  }

  let path: String
  private(set) var steps: [Step] = []
  /// Hints that nobody understands, or that no block follows, with the number of their line.
  private(set) var strayHints: [String] = []

  /// Every command of the page.
  var commands: [Command] {
    steps.flatMap { step -> [Command] in
      if case .commands(let block) = step { block.commands } else { [] }
    }
  }

  /// What its commands want staged.
  var stages: [String] {
    steps.compactMap { step -> String? in
      if case .commands(let block) = step { block.stage } else { nil }
    }
  }

  /// Reads a page of the repository.
  init(_ path: String) throws { self.init(path, text: try Repository.text(path)) }

  /// Reads a page with this text.
  init(_ path: String, text: String) {
    self.path = path
    var reader = Reader(path: path)
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      reader.take(String(line), number: index + 1)
    }
    reader.end()
    steps = reader.steps
    strayHints = reader.strayHints
  }
}

/// Goes through a page line by line.
private struct Reader {
  /// A block that is open.
  private struct Fence {
    let language: String
    let indent: Int
    let ticks: Int
    var lines: [(number: Int, text: String)] = []
  }

  /// The hints in front of a block.
  private struct Hints {
    var status: Int32?
    var stage: String?
    var keepsRunning = false
    var path: String?
    var line = 0
  }

  let path: String
  var steps: [DocumentedPage.Step] = []
  var strayHints: [String] = []
  private var fence: Fence?
  private var hints: Hints?

  init(path: String) { self.path = path }

  mutating func take(_ line: String, number: Int) {
    let body = line.drop { $0 == " " }
    let indent = line.count - body.count
    if var open = fence {
      if body.hasPrefix("```"), body.allSatisfy({ $0 == "`" || $0 == " " }),
        body.prefix(while: { $0 == "`" }).count >= open.ticks
      {
        fence = nil
        close(open)
      } else {
        let cut = min(indent, open.indent)
        open.lines.append((number, String(line.dropFirst(cut))))
        fence = open
      }
    } else if body.hasPrefix("```") {
      let ticks = body.prefix { $0 == "`" }.count
      let language = body.dropFirst(ticks).prefix { !$0.isWhitespace }
      fence = Fence(language: String(language), indent: indent, ticks: ticks)
    } else if body.hasPrefix("<!--"), body.hasSuffix("-->") {
      hint(body.dropFirst(4).dropLast(3).split(separator: " ").map(String.init), number)
    } else if !body.isEmpty {
      refuseHints()
    }
  }

  mutating func end() { refuseHints() }

  /// A comment of some other kind is no hint; the first word tells.
  private mutating func hint(_ words: [String], _ number: Int) {
    var known = hints ?? Hints(line: number)
    switch words.first {
    case "exit" where words.count == 2: known.status = Int32(words[1])
    case "stage" where words.count == 2: known.stage = words[1]
    case "keeps" where words == ["keeps", "running"]: known.keepsRunning = true
    case "save" where words.count == 2: known.path = words[1]
    case "copy" where words.count == 3:
      steps.append(.copy(source: words[1], path: words[2]))
      return
    case "exit", "stage", "keeps", "save", "copy":

      strayHints.append("\(path):\(number): \(words.joined(separator: " "))")
      return
    default: return
    }
    hints = known
  }

  private mutating func refuseHints() {
    if let hints { strayHints.append("\(path):\(hints.line): no block follows this hint") }
    hints = nil
  }

  private mutating func close(_ fence: Fence) {
    if let file = hints?.path {
      steps.append(.save(text: fence.lines.map { $0.text + "\n" }.joined(), path: file))
      hints = nil
      return
    }
    let commands =
      switch fence.language {
      case "console": session(fence.lines)
      case "sh", "bash", "shell": script(fence.lines)
      default: [DocumentedPage.Command]()
      }
    guard !commands.isEmpty else { return refuseHints() }
    steps.append(
      .commands(
        DocumentedPage.Block(
          commands: commands, status: hints?.status ?? 0, stage: hints?.stage,
          keepsRunning: hints?.keepsRunning ?? false)))
    hints = nil
  }

  /// What is typed at a prompt, `$` or `#`, with what is printed between.
  private func session(_ lines: [(number: Int, text: String)]) -> [DocumentedPage.Command] {
    var commands: [DocumentedPage.Command] = []
    var isWhole = true
    for line in lines {
      if !isWhole, let last = commands.indices.last {
        commands[last].text += "\n" + line.text
        isWhole = !line.text.hasSuffix("\\")
      } else if line.text.hasPrefix("$ ") || line.text.hasPrefix("# ") {
        commands.append(DocumentedPage.Command(page: path, line: line.number, text: String(line.text.dropFirst(2))))
        isWhole = !line.text.hasSuffix("\\")
      } else if let last = commands.indices.last {
        commands[last].output = (commands[last].output ?? []) + [line.text]
      }
    }
    return commands
  }

  /// A command a line; comments and empty lines apart. What a here document holds belongs to its command.
  private func script(_ lines: [(number: Int, text: String)]) -> [DocumentedPage.Command] {
    var commands: [DocumentedPage.Command] = []
    var isWhole = true
    var ending: String?
    for line in lines {
      if let last = commands.indices.last, !isWhole || ending != nil {
        commands[last].text += "\n" + line.text
        if ending == line.text { ending = nil } else if ending == nil { isWhole = !line.text.hasSuffix("\\") }
        continue
      }
      let body = line.text.drop { $0 == " " }
      if body.isEmpty || body.hasPrefix("#") { continue }
      commands.append(DocumentedPage.Command(page: path, line: line.number, text: String(body)))
      isWhole = !body.hasSuffix("\\")
      if let mark = body.firstRange(of: "<<") {
        let word = body[mark.upperBound...].drop { "-'\" ".contains($0) }.prefix { $0.isLetter || $0 == "_" }
        if !word.isEmpty { ending = String(word) }
      }
    }
    return commands
  }
}
