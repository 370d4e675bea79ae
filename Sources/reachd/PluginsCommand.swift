internal import ReachAgent
internal import ReachConfig
internal import ReachCore
internal import ReachPluginHost

/// `reachd plugins`.
enum PluginsCommand {
  static func run(_ arguments: Arguments, _ console: Console) -> Int32 {
    do throws(ConfigurationFileError) {
      let results = try results(file: arguments.last("--config"))
      console.out(arguments.has("--json") ? PluginListing.json(results) : PluginListing.text(results))
      return results.contains { $0.rejection != nil } ? 1 : 0
    } catch {
      console.error("\(error)\n")
      return 1
    }
  }

  /// What is in the search path, and what the configuration names beside.
  private static func results(file: String?) throws(ConfigurationFileError) -> [PluginResult] {
    guard let file = file ?? Preparation.existingDefaultFile else { return PluginHost.discover() }
    let document = try ConfigurationDocument(readingFile: file)
    let searchPath = document.pluginPath ?? PluginHost.defaultSearchPath
    let found = PluginHost.discover(searchPath: searchPath)
    let named = document.backendNames.filter { name in !found.contains { $0.name == name } }
    return found + PluginHost.load(named, searchPath: searchPath)
  }
}
