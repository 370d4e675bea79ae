internal import Glibc
public import ReachIO

/// The files of the source tree, for tests that hold what is written against what the program does.
public enum Repository {
  /// Three levels above this file.
  static let root = (0..<3).reduce(#filePath) { path, _ in
    String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
  }

  /// The text of a file, whose path begins at the top of the tree.
  public static func text(_ path: String) throws -> String { try textOfFile("\(root)/\(path)") }

  /// The text of every Swift file of a folder, one after another; the folders in it are left out.
  public static func sources(in folder: String) throws -> String {
    var text = ""
    guard let directory = unsafe opendir("\(root)/\(folder)") else { return text }
    defer { unsafe closedir(directory) }
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name.hasSuffix(".swift") { text += try self.text("\(folder)/\(name)") }
    }
    return text
  }

  /// The path of every file in a folder and in those below it, from the top of the tree on, in order.
  public static func files(in folder: String) throws(SystemError) -> [String] {
    guard let directory = unsafe opendir("\(root)/\(folder)") else { throw SystemError.current("opendir") }
    defer { unsafe closedir(directory) }
    var paths: [String] = []
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name == "." || name == ".." { continue }
      let path = "\(folder)/\(name)"
      let isFolder = unsafe entry.pointee.d_type == UInt8(DT_DIR)
      paths += isFolder ? try files(in: path) : [path]
    }
    return paths.sorted()
  }
}
