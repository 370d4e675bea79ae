import Glibc
import ReachConfig
import ReachCore
import ReachProbe

/// The files beside the tests, and the options that the standard backends have in them.
enum ConfigurationFiles {
  static let here = folder(of: #filePath)
  static let bad = here + "/Bad"
  static let good = here + "/Good"
  static let samples = folder(of: folder(of: here)) + "/etc"

  private static func folder(of path: String) -> String {
    String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
  }

  /// The names in the folder that end like this, in order, without the ending.
  static func names(in folder: String, ending suffix: String) -> [String] {
    var names: [String] = []
    guard let directory = unsafe opendir(folder) else { return [] }
    defer { unsafe closedir(directory) }
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name.hasSuffix(suffix) { names.append(String(name.dropLast(suffix.count))) }
    }
    return names.sorted()
  }

  /// The bytes of a file; empty when it cannot be read.
  static func bytes(_ path: String) -> [UInt8] {
    guard let file = unsafe fopen(path, "r") else { return [] }
    defer { unsafe fclose(file) }
    var bytes: [UInt8] = []
    var next = unsafe getc(file)
    while next != EOF {
      bytes.append(UInt8(truncatingIfNeeded: next))
      next = unsafe getc(file)
    }
    return bytes
  }

  /// Stands for the plugins: what they declare, and nil for one that is not there.
  static func options(of backend: String) -> [ProbeOption]? {
    switch backend {
    case "link", "route": []
    case "dns":
      [
        ProbeOption("server", .endpoints, summary: "name servers"),
        ProbeOption("family", .choice(["any", "ipv4", "ipv6"]), default: .string("any"), summary: "families"),
        ProbeOption("attempts", .integer(1...10), default: .integer(2), summary: "queries"),
        ProbeOption("tcp", .boolean, default: .boolean(false), summary: "over TCP"),
      ]
    case "tcp": [ProbeOption("port", .integer(1...65535), summary: "the port")]
    default: nil
    }
  }

  static func resolve(_ bytes: [UInt8], file: String = "reachd.yaml") -> ConfigurationResult {
    ConfigurationDocument(parsing: bytes, file: file).resolve { options(of: $0) }
  }

  static func resolve(_ text: String) -> ConfigurationResult { resolve(Array(text.utf8)) }
}
