import Glibc
import ReachTestSupport

@testable import EndToEndTools

extension MachineLayer {
  /// Puts the agent that was built beside these tests where the package would, with the delivered units, the user, and
  /// this configuration; enabled, so that it starts with the machine.
  func installAgent(_ configuration: String) throws {
    let home = path("/usr/lib/reachd")
    try perform(
      "install", "-d", "-m", "755", home + "/plugins", path("/usr/bin"), path(Self.libraries), path(Self.units))
    try perform("install", "-m", "755", Reachd.program, home + "/reachd")
    try perform("ln", "-s", "../lib/reachd/reachd", path("/usr/bin/reachd"))
    for plugin in Reachd.plugins { try perform("install", "-m", "644", plugin, home + "/plugins/") }
    for library in try Self.neededLibraries() {
      let isSystem = library.hasPrefix("/lib/") || library.hasPrefix("/usr/lib/")
      let name = library.split(separator: "/").last.map(String.init) ?? ""
      if isSystem, unsafe access("\(Self.root)\(Self.libraries)/\(name)", F_OK) == 0 { continue }
      try perform("install", "-m", "644", library, isSystem ? path(Self.libraries) : home)
    }
    for unit in ["reachd.service", "reachd.socket"] {
      try write(try Repository.text("deploy/systemd/\(unit)"), to: "\(Self.units)/\(unit)")
    }
    for (file, line) in [("passwd", "reachd:x:990:990::/nonexistent:/usr/sbin/nologin"), ("group", "reachd:x:990:")] {
      try write(try textOfFile("\(Self.root)/etc/\(file)") + line + "\n", to: "/etc/\(file)")
    }
    try write(configuration, to: "/etc/reachd/reachd.yaml")
    try enable("reachd.service", for: "multi-user.target")
  }

  /// Has a unit started with a target, as `systemctl enable` would.
  func enable(_ unit: String, for target: String) throws {
    let folder = path("/etc/systemd/system/\(target).wants")
    try perform("install", "-d", "-m", "755", folder)
    try perform("ln", "-s", "\(Self.units)/\(unit)", folder + "/")
  }

  /// Puts a drop-in beside the delivered service.
  func dropIn(_ text: String) throws { try write(text, to: "/etc/systemd/system/reachd.service.d/test.conf") }

  private static let units = "/usr/lib/systemd/system"
  private static let libraries =
    "/usr/lib/" + (unsafe access("/usr/lib/x86_64-linux-gnu", F_OK) == 0 ? "x86_64" : "aarch64") + "-linux-gnu"

  /// The shared libraries that the agent and its plugins load, by their paths here.
  private static func neededLibraries() throws -> [String] {
    let listed = try runProgram(["ldd", Reachd.program] + Reachd.plugins)
    guard listed.isSuccess, !listed.output.contains("not found") else {
      throw MachineFailure(description: listed.output)
    }
    let paths = listed.output.split(separator: "\n").compactMap { line -> String? in
      let words = line.split(separator: " ")
      return words.count > 2 && words[1] == "=>" && words[2].hasPrefix("/") ? String(words[2]) : nil
    }
    return Set(paths).sorted()
  }
}
