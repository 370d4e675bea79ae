internal import Glibc

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
}
