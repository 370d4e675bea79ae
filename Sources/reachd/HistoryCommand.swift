internal import ReachAgent
internal import ReachConfig
internal import ReachCore
internal import ReachIO
internal import ReachState

/// `reachd history`.
enum HistoryCommand {
  static func run(_ arguments: Arguments, _ console: Console) throws(UsageError) -> Int32 {
    let since = try since(arguments.last("--since"), now: WallClock.nanosecondsSinceEpoch())
    let file = arguments.last("--config") ?? Preparation.defaultFile
    let directory: String
    do throws(ConfigurationFileError) {
      // Only this one key is needed: a file that is being edited does not stand in the way.
      guard let named = try ConfigurationDocument(readingFile: file).stateDirectory else {
        console.error("\(file) has no state_dir: nothing is kept\n")
        return 1
      }
      directory = named
    } catch {
      console.error("\(error)\n")
      return 1
    }
    return show(directory, arguments.last("--target"), since, isJSON: arguments.has("--json"), console)
  }

  private static func show(
    _ directory: String, _ target: String?, _ since: Int64?, isJSON: Bool, _ console: Console
  ) -> Int32 {
    var transitions: [Transition] = []
    do throws(HistoryError) {
      try TransitionHistory.read(directory: directory, target: target, since: since) { transitions.append($0) }
    } catch {
      console.error("reachd: \(error)\n")
      return 1
    }
    if isJSON {
      var json = JSONWriter()
      json.beginArray()
      for transition in transitions { transition.write(to: &json) }
      json.endArray()
      json.endLine()
      console.out(String(decoding: json.bytes, as: UTF8.self))
    } else if transitions.isEmpty {
      console.error("no change of status is kept" + (target.map { " of '\($0)'" } ?? "") + "\n")
    } else {
      console.out(HistoryReport(transitions: transitions, isDecorated: console.isDecorated).text)
    }
    return 0
  }

  /// The wall clock's time that long ago.
  private static func since(_ text: String?, now: Int64) throws(UsageError) -> Int64? {
    guard let text else { return nil }
    do throws(ValueError) {
      let (since, overflow) = now.subtractingReportingOverflow(try Duration(parsing: text).nanoseconds)
      return overflow ? .min : since
    } catch {
      throw UsageError(message: "--since: \(error)", command: "history")
    }
  }
}
