internal import CReachPlugin
internal import Glibc
internal import ReachCore
internal import ReachIO
internal import ReachProbe
internal import Synchronization

/// Loads plugin libraries and speaks with them. Each is loaded once in the life of the process and never unloaded.
enum PluginLibrary {
  private typealias Handshake = @convention(c) () -> UnsafePointer<CReachPlugin_Handshake>?
  private typealias Entry = @convention(c) () -> UnsafeMutableRawPointer?

  private static let registrations = Mutex<[PluginFile.Identity: Registration]>([:])

  /// What the plugin in this file registers.
  ///
  /// The path is loaded, not the descriptor that was checked: the loader takes one library per name, and a name under
  /// /proc/self/fd would be given again. Nobody but root and the running user can swap the file in between, since they
  /// alone may write to its folder; that it was not swapped is made sure of afterwards.
  static func registration(of path: String) throws(PluginRefusal) -> Registration {
    let file = try PluginFile.open(path)
    if let known = registrations.withLock({ $0[file.identity] }) { return known }
    guard let library = unsafe dlopen(file.path, RTLD_NOW | RTLD_LOCAL) else {
      let message = loaderMessage()
      throw PluginRefusal(
        "cannot be loaded: \(message)"
          + (isOnNoExec(file.path) ? "; " + Surroundings.current.remedy(for: .executing(file.path)) : ""))
    }
    guard file.isUnchanged() else {
      throw PluginRefusal("was replaced while it was being loaded: restart reachd")
    }
    try unsafe checkHandshake(library)
    let registration = try unsafe self.registration(library)
    registrations.withLock { $0[file.identity] = registration }
    return registration
  }

  private static func checkHandshake(_ library: UnsafeMutableRawPointer) throws(PluginRefusal) {
    guard let symbol = unsafe dlsym(library, "reachd_plugin_handshake") else {
      throw PluginRefusal("is no reachd plugin: it has no reachd_plugin_handshake")
    }
    let handshake = unsafe unsafeBitCast(symbol, to: Handshake.self)
    guard let theirs = unsafe handshake() else { throw PluginRefusal("its handshake is empty: rebuild the plugin") }
    guard let ours = unsafe CReachPlugin_own_handshake() else { throw PluginRefusal("this reachd has no handshake") }
    try unsafe HandshakeCheck.check(theirs, against: ours)
  }

  private static func registration(_ library: UnsafeMutableRawPointer) throws(PluginRefusal) -> Registration {
    guard let symbol = unsafe dlsym(library, "reachd_plugin_registration") else {
      throw PluginRefusal("has no reachd_plugin_registration: rebuild the plugin with its entry point")
    }
    let entry = unsafe unsafeBitCast(symbol, to: Entry.self)
    guard let pointer = unsafe entry() else {
      throw PluginRefusal("registers nothing: its reachd_plugin_registration returned NULL")
    }
    return unsafe Unmanaged<RegistrationBox>.fromOpaque(pointer).takeRetainedValue().registration
  }

  /// Whether nothing on the file's file system may be run (statvfs(3)).
  private static func isOnNoExec(_ path: String) -> Bool {
    var status = statvfs()
    // ST_NOEXEC of statvfs(3), which the C library shows to GNU sources alone.
    return unsafe statvfs(path, &status) == 0 && status.f_flag & 8 != 0
  }

  /// What dlerror(3) says, without the path that begins it.
  private static func loaderMessage() -> String {
    guard let message = unsafe dlerror() else { return "the loader does not say why" }
    guard let text = unsafe String(validatingCString: message) else { return "the loader's message is no UTF-8" }
    // It begins with the name of the library that is not there.
    guard ["libswift", "libFoundation", "lib_Foundation"].contains(where: text.hasPrefix) else { return text }
    return text + ": an installed reachd has the Swift libraries that it needs itself and no more; "
      + "build the plugin with -c release, without Foundation and without regular expressions"
  }
}
