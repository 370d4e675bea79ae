internal import Glibc
internal import ReachCore
internal import ReachIO

/// A plugin's file, opened and found to be one that only root or the running user can have put there.
struct PluginFile: ~Copyable {
  /// Which file it is, whatever its name.
  struct Identity: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
  }

  /// Its path without symbolic links, as far as it had one when it was opened.
  let path: String
  let identity: Identity
  private let descriptor: Descriptor

  /// Opens and checks the file and its folder. Nothing of it is run.
  static func open(_ path: String) throws(PluginRefusal) -> PluginFile {
    guard let resolved = PluginFolder.resolved(path) else {
      throw PluginRefusal("cannot be found (\(FaultText.current())): a dangling link? reinstall the plugin")
    }
    let number = unsafe Glibc.open(resolved, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard number >= 0 else {
      throw PluginRefusal("cannot be opened (\(FaultText.current())): make it readable for the user that runs reachd")
    }
    let descriptor = Descriptor(owning: number)
    var status = stat()
    guard unsafe fstat(number, &status) == 0 else {
      throw PluginRefusal("cannot be examined (\(FaultText.current()))")
    }
    let identity = Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw PluginRefusal("is not a regular file: put the library itself there")
    }
    try check(status, "file", resolved)
    guard ELFExtent.isWhole(descriptor.number, size: UInt64(clamping: status.st_size)) else {
      throw PluginRefusal("is cut off: its headers speak of more than the file holds; copy the plugin again")
    }
    let folder = PluginFolder.parent(of: resolved)
    guard unsafe stat(folder, &status) == 0 else {
      throw PluginRefusal("its folder cannot be examined (\(FaultText.current()))")
    }
    try check(status, "folder", folder)
    return PluginFile(path: resolved, identity: identity, descriptor: descriptor)
  }

  /// Whether the path still names the file that was checked.
  borrowing func isUnchanged() -> Bool {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return false }
    return identity == Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
  }

  private static func check(_ status: stat, _ what: String, _ path: String) throws(PluginRefusal) {
    let user = geteuid()
    guard status.st_uid == 0 || status.st_uid == user else {
      throw PluginRefusal(
        "the \(what) belongs to user \(status.st_uid), who could change what reachd runs: "
          + "chown \(user == 0 ? "root" : "root, or the user that runs reachd,") \(path)")
    }
    guard status.st_mode & 0o022 == 0 else {
      let who = status.st_mode & 0o002 == 0 ? "its group" : "everybody"
      throw PluginRefusal("\(who) may write to the \(what), and so change what reachd runs: chmod go-w \(path)")
    }
  }
}

/// The errno of this moment, by name.
enum FaultText {
  static func current() -> String { SystemError.current("").code.name }
}
