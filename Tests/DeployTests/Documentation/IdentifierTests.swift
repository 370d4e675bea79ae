import ReachTestSupport
import Testing

/// Names of metrics, events, fields, reasons, options and keys are words with underscores. Whatever the documentation
/// writes as one of these in backticks exists: in the program's text or in what is delivered.
@Suite struct IdentifierTests {
  /// Names of other programs, which the documentation speaks of.
  private static let foreign: Set = [
    "blackbox_exporter", "smokeping_prober", "node_exporter", "file_sd", "http_sd",
    "http_2xx", "scrape_native_histograms", "enable_compression", "avg_over_time", "histogram_quantile",
  ]

  @Test("no page names an identifier that does not exist")
  func identifiers() throws {
    var texts = ""
    let folders = ["Sources", "Plugins", "deploy", "etc", "Examples", ".ci"].filter(Repository.hasFile)
    for file in try folders.flatMap({ try Repository.files(in: $0) })
    where !file.hasSuffix(".md") && !file.contains("/.build/") {
      texts += try Repository.text(file)
    }
    texts += try Repository.text("Makefile")
    let known = Set(texts.matches(of: /[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+/).map { String($0.output) })
    // A family's name is put together with its suffix as it is written.
    func exists(_ word: String) -> Bool {
      if known.contains(word) || Self.foreign.contains(word) { return true }
      // Metrics of blackbox_exporter that have no counterpart.
      if ["probe_http_", "probe_icmp_", "probe_grpc_"].contains(where: { word.hasPrefix($0) }) { return true }
      return ["_bucket", "_sum", "_count"].contains {
        word.hasSuffix($0) && known.contains(String(word.dropLast($0.count)))
      }
    }
    for page in try Page.all() {
      for (line, code) in page.codes {
        guard let match = code.wholeMatch(of: /([a-z][a-z0-9]*(?:_[a-z0-9]+)+)(?:[:{=(].*)?/) else { continue }
        let word = String(match.output.1)
        #expect(exists(word), "\(page):\(line) names \(word)")
      }
    }
  }
}
