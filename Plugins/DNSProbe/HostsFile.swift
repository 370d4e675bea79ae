internal import ReachCore

/// Looks names up in the text of /etc/hosts (hosts(5)).
enum HostsFile {
  /// The addresses of `name`, in lower case without a trailing dot, in the order of the lines; empty when it is not
  /// listed. Every name of a line counts, the canonical one and its aliases.
  static func addresses(of name: String, in text: [UInt8]) -> [IPAddress] {
    let wanted = Array(name.utf8)
    var found: [IPAddress] = []
    for line in text.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
      let content = line.prefix { $0 != UInt8(ascii: "#") }
      var words = content.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }.makeIterator()
      guard let first = words.next() else { continue }
      var isListed = false
      while !isListed, let word = words.next() { isListed = matches(word, wanted) }
      guard isListed, let address = try? IPAddress(parsing: String(decoding: first, as: UTF8.self)) else { continue }
      if !found.contains(address) { found.append(address) }
    }
    return found
  }

  private static func matches(_ word: ArraySlice<UInt8>, _ wanted: [UInt8]) -> Bool {
    let name = word.last == UInt8(ascii: ".") ? word.dropLast() : word
    return name.count == wanted.count && zip(name, wanted).allSatisfy { DNSReader.lowercased($0) == $1 }
  }
}
