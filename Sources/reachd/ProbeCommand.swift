internal import ReachAgent
internal import ReachConfig
internal import ReachCore

/// `reachd probe`.
enum ProbeCommand {
  static func run(_ arguments: Arguments, _ console: Console) throws(UsageError) -> Int32 {
    let preparation: Preparation
    do throws(ConfigurationFileError) {
      let file = arguments.last("--config") ?? Preparation.existingDefaultFile
      preparation =
        try file.map { (file) throws(ConfigurationFileError) in try Preparation.load(file: file) }
        ?? Preparation.defaults()
    } catch {
      console.error("\(error)\n")
      return 1
    }
    for rejection in preparation.rejections { console.error("reachd: plugin \(rejection)\n") }
    guard let configuration = preparation.configuration else {
      for problem in preparation.problems { console.error("\(problem)\n") }
      return 1
    }
    return probe(try targets(arguments, configuration), in: preparation, arguments.has("--json"), console)
  }

  private static func targets(
    _ arguments: Arguments, _ configuration: Configuration
  ) throws(UsageError) -> [ConfiguredTarget] {
    var targets: [ConfiguredTarget] = []
    for text in arguments.operands {
      do {
        targets.append(try configuration.target(parsing: text))
      } catch {
        throw UsageError(message: "\(error)", command: "probe")
      }
    }
    guard let timeout = try arguments.timeout(of: "probe") else { return targets }
    for index in targets.indices { targets[index].target.policy.timeout = timeout }
    return targets
  }

  private static func probe(
    _ targets: [ConfiguredTarget], in preparation: Preparation, _ isJSON: Bool, _ console: Console
  ) -> Int32 {
    let results: [OneShotResult]
    do {
      results = try OneShot.run(targets, in: preparation)
    } catch {
      console.error("reachd: \(error)\n")
      return 2
    }
    if isJSON {
      var json = JSONWriter()
      json.beginArray()
      for result in results { result.view.write(to: &json) }
      json.endArray()
      json.endLine()
      console.out(String(decoding: json.bytes, as: UTF8.self))
    } else {
      let texts = results.map {
        ProbeReport(target: $0.target, report: $0.report, verdict: $0.verdict, isDecorated: console.isDecorated).text
      }
      console.out(texts.joined(separator: "\n"))
    }
    return status(of: results.map(\.verdict.status))
  }

  /// 0 all reachable, 1 any NotReachable, 2 any Unknown and none NotReachable.
  static func status(of statuses: [Status]) -> Int32 {
    if statuses.contains(.notReachable) { return 1 }
    return statuses.contains(.unknown) ? 2 : 0
  }
}
