internal import Glibc

/// Why a configuration file cannot be read.
public struct ConfigurationFileError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file as the user named it.
  public let file: String
  /// For people: what is wrong, and what to do.
  public let message: String
  /// `FILE: error: MESSAGE`.
  public var description: String { "\(file): error: \(message)" }
}

extension ConfigurationDocument {
  /// Reads the file at this path (open(2), read(2)); what it holds is another matter.
  ///
  /// Blocks until the file has been read. Throws when it is a folder, or cannot be read.
  public init(readingFile path: String) throws(ConfigurationFileError) {
    self.init(parsing: try Self.bytes(ofFile: path, flag: "--config"), file: path)
  }

  /// What the file at this path holds, up to a little more than is allowed. `flag` is what names the file.
  public static func bytes(ofFile path: String, flag: String) throws(ConfigurationFileError) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(path, errno, flag) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    let chunk = 1 << 16
    // One octet more than is allowed tells that it is too much.
    while bytes.count <= YAMLText.sizeLimit {
      let start = bytes.count
      bytes.append(contentsOf: repeatElement(0, count: chunk))
      let count = unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe read(descriptor, buffer.baseAddress?.advanced(by: start), chunk)
      }
      let fault = errno
      bytes.removeLast(chunk - max(0, min(count, chunk)))
      if count < 0, fault == EINTR { continue }
      guard count >= 0 else { throw failure(path, fault, flag) }
      if count == 0 { break }
    }
    return bytes
  }

  private static func failure(_ path: String, _ number: Int32, _ flag: String) -> ConfigurationFileError {
    let message =
      switch number {
      case ENOENT: "there is no such file; write one, or name another with \(flag)"
      case EACCES: "it may not be read; give this user the right to read it, and its folders"
      case EISDIR: "it is a folder; name a file in it"
      default: "it cannot be read: \(unsafe String(cString: strerror(number)))"
      }
    return ConfigurationFileError(file: path, message: message)
  }
}
