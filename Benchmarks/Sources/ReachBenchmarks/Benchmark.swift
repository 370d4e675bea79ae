internal import Glibc

/// One question about cost, in a file of its own: add it to `all`.
struct Benchmark: Sendable {
  /// What the command line calls it.
  let name: String
  /// One line on what is compared.
  let summary: String
  /// Measures and prints its rows.
  let run: @Sendable () throws -> Void

  static let all: [Benchmark] = [.tcpProbe, .timers, .eventLoop, .detection, .scrape]
}

/// Runs the benchmarks of these names, or all of them, and says what went wrong.
func runBenchmarks(named names: [String]) {
  if let unknown = names.first(where: { name in !Benchmark.all.contains { $0.name == name } }) {
    print("no benchmark '\(unknown)'; there are: \(Benchmark.all.map(\.name).joined(separator: ", "))")
    exit(64)
  }
  for benchmark in Benchmark.all where names.isEmpty || names.contains(benchmark.name) {
    print("\(benchmark.name): \(benchmark.summary)")
    do { try benchmark.run() } catch {
      print("  failed: \(error)")
      exit(1)
    }
  }
}
