internal import ReachCore
public import ReachProbe

extension LinkProbe {
  /// What the plugin says of itself.
  public static let registration = Registration(
    name: "link", layer: .link, version: "0.1.0",
    summary: "the state of the interface a target is reached by, or of one that is named",
    options: [
      ProbeOption(
        interfaceOption, .string, summary: "the interface to look at, whatever the routes say; at most 127 octets")
    ]
  ) { options, _ throws(OptionError) in
    LinkProbe(interface: try options.string(interfaceOption).map(checked))
  }

  /// The name, when it can be that of an interface: IFNAMSIZ leaves 15 octets, ALTIFNAMSIZ 127 for an alternative name.
  private static func checked(_ name: String) throws(OptionError) -> String {
    let problem: String? =
      if name.isEmpty {
        "is empty"
      } else if name.utf8.count > 127 {
        "is longer than the 127 octets an interface's name can have"
      } else if name == "." || name == ".." || name.utf8.contains(where: { $0 <= 32 || $0 == 127 || $0 == 47 }) {
        "holds what no interface's name can have: a space, a control character or a slash"
      } else {
        nil
      }
    guard let problem else { return name }
    throw OptionError(
      option: interfaceOption, message: "'\(name)' \(problem); write a name that `ip link` shows, such as eth0")
  }
}
