internal import Glibc

/// Plugin files by name. What cannot be read counts as empty: a folder of the search path need not exist.
enum PluginFolder {
  private static let prefix = "lib"
  private static let suffix = "Probe.so"

  /// The path of the plugin with this backend name in the first folder that has one.
  static func find(_ name: String, in folders: [String]) -> String? {
    for folder in folders {
      if let file = plugins(in: folder).first(where: { $0.name == key(name) }) { return file.path }
    }
    return nil
  }

  /// Every plugin of the folder, with its backend name, in the order of the file names.
  static func plugins(in folder: String) -> [(name: String, path: String)] {
    entries(of: folder).sorted().compactMap { entry in
      guard entry.hasPrefix(prefix), entry.hasSuffix(suffix), entry.count > prefix.count + suffix.count else {
        return nil
      }
      return (key(String(entry.dropFirst(prefix.count).dropLast(suffix.count))), folder + "/" + entry)
    }
  }

  /// The usual file name of a backend.
  static func fileName(of name: String) -> String {
    let stem = name.count <= 4 && name != "link" ? name.uppercased() : name.prefix(1).uppercased() + name.dropFirst()
    return prefix + stem + suffix
  }

  /// The folder that holds the running program.
  static func ofExecutable() -> String? {
    guard let file = resolved("/proc/self/exe") else { return nil }
    return parent(of: file)
  }

  /// The path without symbolic links (realpath(3)); nil when there is no such file.
  static func resolved(_ path: String) -> String? {
    guard let buffer = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(buffer) }
    return unsafe String(validatingCString: buffer)
  }

  /// The folder of an absolute path.
  static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }

  private static func key(_ name: String) -> String { name.lowercased() }

  private static func entries(of folder: String) -> [String] {
    guard let stream = unsafe opendir(folder) else { return [] }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(validatingCString: $0) }
      }
      if let name { names.append(name) }
    }
    return names
  }
}
