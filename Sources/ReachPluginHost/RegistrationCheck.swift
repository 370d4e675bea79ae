internal import ReachCore
internal import ReachProbe

/// Whether a registration makes sense: what it says of itself comes from outside.
enum RegistrationCheck {
  /// Throws when the registration is not that of the backend `name`, or declares options that cannot be used.
  static func check(_ registration: Registration, is name: String) throws(PluginRefusal) {
    guard registration.name == name else {
      throw PluginRefusal(
        "registers the backend \"\(printable(registration.name))\", not \"\(name)\": "
          + "rename the file to \(PluginFolder.fileName(of: printable(registration.name)))")
    }
    guard isName(registration.name) else {
      throw PluginRefusal("its name is no lower-case word: letters, digits and _ only")
    }
    guard !registration.version.isEmpty, registration.version.utf8.count <= 64 else {
      throw PluginRefusal("registers no usable version: it must have 1 to 64 bytes")
    }
    guard [.link, .route, .dns, .tcp].contains(registration.layer) else {
      throw PluginRefusal(
        "registers for the layer \(registration.layer), which no probe looks at: use link, route, dns or tcp")
    }
    var seen: Set<String> = []
    for option in registration.options {
      let label = printable(option.name)
      guard isName(option.name) else { throw PluginRefusal("declares an option \"\(label)\" that is no word") }
      guard option.name != "timeout" else {
        throw PluginRefusal("declares the option timeout, which reachd keeps for every backend: drop it")
      }
      guard seen.insert(option.name).inserted else { throw PluginRefusal("declares the option \(label) twice") }
      if let value = option.defaultValue, !fits(value, option.kind) {
        throw PluginRefusal("the default of its option \(label) is not of the option's kind")
      }
    }
  }

  private static func isName(_ name: String) -> Bool {
    guard let first = name.utf8.first, first >= 0x61, first <= 0x7a, name.utf8.count <= 64 else { return false }
    return name.utf8.allSatisfy { ($0 >= 0x61 && $0 <= 0x7a) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x5f }
  }

  private static func fits(_ value: OptionValue, _ kind: ProbeOption.Kind) -> Bool {
    switch (value, kind) {
    case (.string, .string), (.boolean, .boolean), (.endpoint, .endpoint), (.endpoints, .endpoints): true
    case (.string(let text), .choice(let words)): words.contains(text)
    case (.integer(let number), .integer(let range)): range.contains(number)
    case (.duration(let duration), .duration): duration > .zero
    default: false
    }
  }

  /// Text from outside, cut and without anything that could move a terminal's cursor.
  private static func printable(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.prefix(64).filter { $0.value >= 0x20 && $0.value != 0x7f }))
  }
}
