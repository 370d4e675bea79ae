internal import ReachCore

/// Reads a target's `source:`.
struct SourceReader {
  let problems: ProblemList

  func read(_ node: YAMLNode, for kind: Target.Kind?) -> SourceBinding {
    let reader = ValueReader(problems: problems)
    let fields = Fields(node, in: "source", known: ["interface", "address", "mark"], problems: problems)
    var source = SourceBinding()
    if let node = fields["interface"] {
      source.interface = reader.value(node, "interface") { text throws(ValueError) in
        try InterfaceName.check(text)
        return text
      }
    }
    if let node = fields["address"] {
      source.address = reader.value(node, "address") { text throws(ValueError) in
        try AddressText.parseTarget(text)
      }
    }
    if let node = fields["mark"] {
      source.mark = reader.number(node, "mark") { text throws(ValueError) in try Self.mark(text) }
    }
    if let kind { check(source, fields, for: kind) }
    return source
  }

  private static func mark(_ text: String) throws(ValueError) -> UInt32 {
    let isHexadecimal = text.hasPrefix("0x")
    let digits = isHexadecimal ? text.dropFirst(2) : text[...]
    guard !digits.hasPrefix("+"), !digits.hasPrefix("-"), let mark = UInt32(digits, radix: isHexadecimal ? 16 : 10)
    else {
      throw ValueError("\(quoted(text)) is not a mark; write a number from 0 to 0xffffffff, such as 0x10")
    }
    return mark
  }

  private func check(_ source: SourceBinding, _ fields: Fields, for kind: Target.Kind) {
    switch kind {
    case .interface, .linkLocal:
      problems.error(
        "'source' has no use here, since the target names its interface; remove it", at: fields.position)
    case .address(let address):
      checkFamily(source.address, address, fields)
    case .pair(let local, let remote):
      if let address = source.address, address != local {
        problems.error(
          "address: the source of a pair is its 'local' of \(local); remove this one",
          at: fields.position(of: "address"))
      } else {
        checkFamily(source.address, remote, fields)
      }
    case .host, .defaultPath: break
    }
  }

  private func checkFamily(_ source: IPAddress?, _ target: IPAddress, _ fields: Fields) {
    guard let source, source.family != target.family else { return }
    problems.error(
      "address: \(source) cannot reach \(target), which is of the other family; write one of the same",
      at: fields.position(of: "address"))
  }
}
