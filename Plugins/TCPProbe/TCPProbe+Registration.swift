internal import ReachCore
public import ReachProbe

extension TCPProbe {
  /// What the plugin says of itself.
  public static let registration = Registration(
    name: "tcp", layer: .tcp, version: "0.1.0", summary: "Connects to every address of a target over TCP.",
    options: [
      ProbeOption("port", .integer(1...65535), summary: "The port to connect to; the target's own when left out."),
      ProbeOption(
        "close", .choice(["reset", "fin"]), default: .string("reset"),
        summary: "How an open connection is ended: 'reset' leaves no TIME_WAIT, 'fin' is the polite way."),
    ]
  ) { (options, _) throws(OptionError) in
    let port = options.integer("port")
    guard port.map({ (1...65535).contains($0) }) ?? true else {
      throw OptionError(option: "port", message: "a port is a number from 1 to 65535")
    }
    return TCPProbe(
      port: port.map { UInt16(truncatingIfNeeded: $0) }, closing: options.string("close") == "fin" ? .fin : .reset)
  }
}
