internal import ReachAgent
internal import ReachConfig

/// `reachd check`.
enum CheckCommand {
  static func run(_ arguments: Arguments, _ console: Console) -> Int32 {
    if let file = arguments.last("--blackbox") { return translate(file, console) }
    let file = arguments.last("--config") ?? Preparation.defaultFile
    do throws(ConfigurationFileError) {
      let preparation = try Preparation.load(file: file).readingWebConfig()
      for problem in preparation.problems { console.error("\(problem)\n") }
      for rejection in preparation.rejections { console.error("\(file): warning: plugin \(rejection)\n") }
      guard let configuration = preparation.configuration else { return 1 }
      let inFiles = configuration.checkTargetFiles()
      for problem in inFiles.problems { console.error("\(problem)\n") }
      let count = configuration.targets.count
      let more = inFiles.targets.isEmpty ? "" : ", and \(inFiles.targets.count) in the files of targets_from"
      console.out("\(file) is valid: \(count) target\(count == 1 ? "" : "s")\(more)\n")
      if let size = ScrapeSize(preparation, with: inFiles.targets) {
        let isAll = configuration.sources.allSatisfy { if case .files = $0.place { true } else { false } }
        console.out(
          "a scrape has \(size.series) series in \(size.bytes) bytes, once every target has been reached"
            + (isAll ? "\n" : "; those that servers and SRV records tell of come on top\n"))
      }
      return 0
    } catch {
      console.error("\(error)\n")
      return 1
    }
  }

  /// Prints the modules of a configuration of blackbox_exporter as reachd has them, and what has no counterpart.
  private static func translate(_ file: String, _ console: Console) -> Int32 {
    do throws(ConfigurationFileError) {
      let bytes = try ConfigurationDocument.bytes(ofFile: file, flag: "--blackbox")
      let translation = BlackboxDocument.translate(bytes, file: file)
      for problem in translation.problems { console.error("\(problem)\n") }
      console.out(translation.yaml)
      return translation.isComplete ? 0 : 1
    } catch {
      console.error("\(error)\n")
      return 1
    }
  }
}
