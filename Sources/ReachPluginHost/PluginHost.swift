internal import Glibc

/// Finds, checks and loads probe plugins. It schedules nothing and makes no backend.
///
/// A backend `tcp` is the file `libTCPProbe.so`, in any letter case. Of several folders the first that has the file
/// decides. Before any of its code runs, the file must be a regular one that only root or the running user can have
/// written, in a folder of which the same holds; then the C handshake must agree, then the registration make sense.
///
/// May be called from any thread; it reads folders and maps libraries, so call it at start, not while probing.
public enum PluginHost {
  /// Where plugins are looked for when the configuration does not say: beside the executable, then where a package
  /// installs them.
  public static var defaultSearchPath: [String] {
    let beside = PluginFolder.ofExecutable()
    return (beside.map { [$0, $0 + "/plugins"] } ?? []) + ["/usr/lib/reachd/plugins"]
  }

  /// Loads the backends of these names, in this order. Loading a file again gives the registration it gave before.
  public static func load(
    _ names: [String], searchPath: [String] = PluginHost.defaultSearchPath
  ) -> [PluginResult] {
    names.map { name in
      PluginFolder.find(name, in: searchPath).map { load($0, as: name) } ?? .rejected(absent(name, searchPath))
    }
  }

  /// Loads every `lib<Name>Probe.so` of the search path, by name; of two with one name the first counts.
  public static func discover(searchPath: [String] = PluginHost.defaultSearchPath) -> [PluginResult] {
    var files: [String: String] = [:]
    for folder in searchPath {
      for file in PluginFolder.plugins(in: folder) where files[file.name] == nil { files[file.name] = file.path }
    }
    return files.sorted { $0.key < $1.key }.map { load($0.value, as: $0.key) }
  }

  private static func load(_ file: String, as name: String) -> PluginResult {
    do throws(PluginRefusal) {
      let registration = try PluginLibrary.registration(of: file)
      try RegistrationCheck.check(registration, is: name)
      return .loaded(LoadedPlugin(file: file, registration: registration))
    } catch {
      return .rejected(RejectedPlugin(name: name, file: file, reason: error.reason))
    }
  }

  private static func absent(_ name: String, _ searchPath: [String]) -> RejectedPlugin {
    let folders = searchPath.isEmpty ? "an empty plugin_path" : searchPath.joined(separator: ", ")
    return RejectedPlugin(
      name: name, file: nil,
      reason: "no \(PluginFolder.fileName(of: name)) in \(folders): install the plugin, correct the backend's name, "
        + "or name its folder in plugin_path")
  }
}

/// Why a plugin is refused.
struct PluginRefusal: Error, Hashable {
  let reason: String
  init(_ reason: String) { self.reason = reason }
}
