internal import Glibc
internal import ReachCore
internal import ReachIO

/// Reads a small file whole. Does not block, whatever the path leads to.
enum PEMFile {
  private static let sizeLimit = 1 << 20

  /// What the settings have written out, or name. Throws when a file cannot be read.
  static func text(
    of material: TLSSettings.Material, _ part: TLSProblem.Part, _ what: String
  ) throws(TLSProblem) -> String {
    switch material {
    case .text(let text): return text
    case .file(let path):
      do throws(SystemError) {
        return String(decoding: try read(path), as: UTF8.self)
      } catch {
        let remedy =
          switch error.code.errno {
          case ENOENT: "; write the path of a file that is there"
          case EACCES: "; " + Surroundings.current.remedy(for: .reading(path))
          case EINVAL, EISDIR: "; name a regular file"
          default: ""
          }
        throw TLSProblem(part, "\(what) \(path) cannot be read: \(error)\(remedy)")
      }
    }
  }

  /// What the file holds. Throws what open(2) or read(2) failed with, `EFBIG` beyond a mebibyte, and `EINVAL` for what is
  /// no regular file.
  static func read(_ path: String) throws(SystemError) -> [UInt8] {
    let descriptor = Descriptor(
      owning: try retryingInterrupts("open") { unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) })
    var status = stat()
    guard unsafe fstat(descriptor.number, &status) == 0 else { throw SystemError.current("fstat") }
    guard status.st_mode & S_IFMT == S_IFREG else { throw SystemError("open", FaultCode(errno: EINVAL)) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16 * 1024)
    while bytes.count <= sizeLimit {
      let count = try retryingInterrupts("read") {
        let count = unsafe Glibc.read(descriptor.number, &chunk, chunk.count)
        return Int32(clamping: count)
      }
      if count == 0 { return bytes }
      bytes += chunk.prefix(Int(count))
    }
    throw SystemError("read", FaultCode(errno: EFBIG))
  }
}
