internal import ReachCore
public import ReachProbe

extension GreetingProbe {
  /// What the plugin says of itself.
  public static let registration = Registration(
    name: "greeting", layer: .tcp, version: "1.0.0", summary: "Waits for the line that a service greets with.",
    options: [
      ProbeOption("port", .integer(1...65535), summary: "The port to connect to; the target's own when left out."),
      ProbeOption(
        "starts_with", .string,
        summary: "What the greeting must begin with, such as 'SSH-2.0-'; any line will do when left out."),
    ]
  ) { (options, _) throws(OptionError) in
    let prefix = Array((options.string("starts_with") ?? "").utf8)
    guard prefix.count < Greeting.longest else {
      throw OptionError(
        option: "starts_with", message: "more than \(Greeting.longest - 1) bytes: no greeting is so long")
    }
    guard !prefix.contains(Greeting.lineEnd) else {
      throw OptionError(option: "starts_with", message: "holds a line break: only the first line is looked at")
    }
    return GreetingProbe(port: options.integer("port").flatMap { UInt16(exactly: $0) }, prefix: prefix)
  }
}
