internal import ReachCore

/// What /etc/resolv.conf says (resolv.conf(5)). Read here rather than by c-ares, which puts 127.0.0.1 in place of a
/// missing server without a word, and in older versions knows no zones.
struct ResolverConfiguration: Hashable, Sendable {
  /// The name servers in order, at most eight.
  var servers: [Nameserver] = []
  /// The search list.
  var searchList: [String] = []
  /// How many dots make a name be tried as it stands first.
  var ndots = 1
  /// Whether TCP is asked for (`options use-vc`).
  var usesTCP = false

  /// An empty configuration.
  init() {}

  /// Reads the file's text; a line that is not understood is passed over, as every resolver does.
  init(parsing text: String) {
    for line in text.split(whereSeparator: \.isNewline) {
      let content = line.prefix { $0 != "#" && $0 != ";" }
      let words = content.split { $0 == " " || $0 == "\t" }
      guard let keyword = words.first, words.count > 1 else { continue }
      let values = words.dropFirst()
      switch keyword {
      case "nameserver": addServer(values.first)
      case "domain": searchList = values.prefix(1).map(Self.plain)
      case "search": searchList = values.map(Self.plain).filter { !$0.isEmpty }
      case "options": values.forEach { apply(option: $0) }
      default: break
      }
    }
  }

  /// The absolute names that `name` may stand for, in the order to be tried (resolv.conf(5), `ndots`).
  func candidates(for name: String) -> [String] {
    let dots = name.utf8.count { $0 == UInt8(ascii: ".") }
    let extended = searchList.map { name + "." + $0 }
    return dots >= ndots ? [name] + extended : extended + [name]
  }

  private mutating func addServer(_ text: Substring?) {
    guard let text, servers.count < 8, let address = try? IPAddress(parsing: String(text)) else { return }
    let server = Nameserver(address: address)
    if !servers.contains(server) { servers.append(server) }
  }

  private mutating func apply(option: Substring) {
    if option == "use-vc" {
      usesTCP = true
    } else if option.hasPrefix("ndots:"), let count = UInt8(option.dropFirst(6)) {
      ndots = Int(min(count, 15))
    }
  }

  private static func plain(_ domain: Substring) -> String {
    let name = domain.lowercased()
    return name.hasSuffix(".") ? String(name.dropLast()) : name
  }
}

/// Where a name server listens.
struct Nameserver: Hashable, Sendable, CustomStringConvertible {
  let address: IPAddress
  var port: UInt16 = 53

  /// Address and port, such as `[2001:db8::53]:53`.
  var description: String { address.family == .ipv4 ? "\(address):\(port)" : "[\(address)]:\(port)" }
}
