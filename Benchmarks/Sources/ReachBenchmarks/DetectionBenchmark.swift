internal import CReachBenchmarks
internal import Glibc
internal import ReachCore
internal import ReachIO

extension Benchmark {
  static let detection = Benchmark(
    name: "detection", summary: "from the kernel's word of a lost carrier to what a user sees of it, 1000 targets"
  ) {
    guard let program = unsafe getenv("REACHD_PROGRAM").map({ unsafe String(cString: $0) }) else {
      return print("  left out: REACHD_PROGRAM does not say where a release build of reachd is; `make bench` does")
    }
    do {
      let stage = try DetectionStage()
      let agent = try DetectionAgent(program, on: stage)
      let trials = try DetectionTrials(stage, agent)
      try trials.measureLog(trials: 10)
      try trials.measureMetrics(trials: 10)
    } catch let error as DetectionStage.Unavailable {
      print("  left out: \(error)")
    }
  }
}

/// The trials: in each the carrier goes, what a user could see is awaited, and the carrier comes back.
private final class DetectionTrials {
  private let stage: DetectionStage
  private let agent: DetectionAgent
  /// A socket that is told of interfaces, as barely as it can be: what it hears is the time that counts from.
  private let listener: Descriptor

  init(_ stage: DetectionStage, _ agent: DetectionAgent) throws {
    self.stage = stage
    self.agent = agent
    listener = Descriptor(owning: try checked("socket", CReachBenchmarks_link_listener()))
    try agent.awaitLines(DetectionAgent.targetCount) { $0.contains("\"status_initial\"") }
    _ = usleep(1_500_000)
  }

  /// To each line of the log.
  func measureLog(trials: Int) throws {
    var all: [Double] = []
    var first: [Double] = []
    var last: [Double] = []
    for _ in 0..<trials {
      let heard = try lose()
      let lines = try agent.awaitLines(DetectionAgent.targetCount) { $0.contains("\"to\":\"NotReachable\"") }
      let delays = lines.map { milliseconds($0 - heard) }
      all += delays
      if let shortest = delays.min(), let longest = delays.max() {
        first.append(shortest)
        last.append(longest)
      }
      try restore()
    }
    print(row("to the first line of the log", first))
    print(row("to each line of the log", all))
    print(row("to the last line of the log", last))
  }

  /// To the end of the first scrape that shows all of it.
  func measureMetrics(trials: Int) throws {
    var shown: [Double] = []
    var plain: [Double] = []
    for _ in 0..<trials {
      let start = nanoseconds()
      plain.append(milliseconds(try agent.scrape().endedAt - start))
      let heard = try lose()
      var scrape = try agent.scrape()
      while scrape.lost < DetectionAgent.targetCount { scrape = try agent.scrape() }
      shown.append(milliseconds(scrape.endedAt - heard))
      try agent.awaitLines(DetectionAgent.targetCount) { $0.contains("\"to\":\"NotReachable\"") }
      try restore()
    }
    print(row("to the end of a scrape that shows it", shown))
    print(row("a scrape while nothing happens", plain))
  }

  /// Takes the carrier away. Returns when the listener heard of it.
  private func lose() throws -> Int64 {
    try stage.setCarrier(false)
    let deadline = nanoseconds() + 10_000_000_000
    while nanoseconds() < deadline {
      var entry = pollfd(fd: listener.number, events: Int16(POLLIN), revents: 0)
      _ = unsafe poll(&entry, 1, 1_000)
      let now = nanoseconds()
      if CReachBenchmarks_heard_carrier_loss(listener.number, stage.index) != 0 { return now }
    }
    throw DetectionAgent.Silent(description: "the kernel told of no lost carrier")
  }

  /// Gives the carrier back and waits until all targets are well again.
  private func restore() throws {
    try stage.setCarrier(true)
    try agent.awaitLines(DetectionAgent.targetCount) { $0.contains("\"to\":\"ReachableViaWiFi\"") }
    // A change that comes within a second of another may be merged with it; here each is to be the first.
    _ = usleep(1_500_000)
    _ = CReachBenchmarks_heard_carrier_loss(listener.number, stage.index)
  }

  private func row(_ name: String, _ values: [Double]) -> String {
    let sorted = values.sorted()
    func at(_ share: Double) -> String {
      sorted.isEmpty ? "-" : fixed(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))])
    }
    let padded = name + String(repeating: " ", count: max(0, 38 - name.count))
    return "  \(padded)p50 \(at(0.5)) ms, p90 \(at(0.9)) ms, p99 \(at(0.99)) ms, most \(at(1)) ms (\(sorted.count))"
  }

  private func milliseconds(_ nanoseconds: Int64) -> Double { Double(nanoseconds) / 1e6 }
}

/// CLOCK_MONOTONIC.
func nanoseconds() -> Int64 {
  var time = timespec()
  _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
