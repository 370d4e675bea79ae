import ReachHTTP
import ReachMetrics
import Testing

@testable import ReachAgent

/// Which format a client gets for its Accept header.
@Suite struct NegotiationTests {
  private static func preferred(_ accept: String...) -> ExpositionFormat? {
    .preferred(by: AcceptHeader(parsing: accept))
  }

  private static let protobuf =
    "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"

  @Test("Prometheus 2 and 3, as they ask, get OpenMetrics, and protocol buffers when they want native histograms")
  func prometheus() {
    let second = "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
    #expect(Self.preferred(second + "text/plain;version=0.0.4;q=0.5,*/*;q=0.1") == .openMetrics)
    let native = "application/openmetrics-text;version=1.0.0;q=0.8,application/openmetrics-text;version=0.0.1;q=0.75,"
    #expect(Self.preferred(Self.protobuf + "," + native + "text/plain;version=0.0.4;q=0.5,*/*;q=0.1") == .protobuf)
    let third = [
      "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8", "application/openmetrics-text;version=0.0.1",
      "text/plain;version=1.0.0;escaping=allow-utf-8", "text/plain;version=0.0.4", "*/*",
    ]
    #expect(Self.preferred(Self.weighted(third)) == .openMetrics)
    #expect(Self.preferred(Self.weighted([Self.protobuf] + third)) == .protobuf)
    // scrape_protocols: [PrometheusText0.0.4]
    #expect(Self.preferred(Self.weighted(["text/plain;version=0.0.4", "*/*"])) == .text)
  }

  /// As Prometheus 3 writes its list: the first with 0.6, each further one with a tenth less.
  private static func weighted(_ ranges: [String]) -> String {
    ranges.enumerated().map { "\($0.element);q=0.\(6 - $0.offset)" }.joined(separator: ",")
  }

  @Test(
    "who names nothing, or nothing that there is, gets text",
    arguments: [
      "*/*", "text/*", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "application/json",
      "text/plain", "text/plain;version=0.0.4;q=1,*/*;q=0.1", "text/html", "application/openmetrics-text;version=2.0.0",
      "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text", "nonsense", ";;,",
    ])
  func text(accept: String) {
    #expect(Self.preferred(accept) == .text)
    #expect(Self.preferred() == .text)
  }

  @Test("weights decide, the first of equals is text, and q=0 excludes")
  func weights() {
    #expect(Self.preferred("text/plain;q=0.5", "application/openmetrics-text;q=0.6") == .openMetrics)
    #expect(Self.preferred("application/openmetrics-text, text/plain") == .text)
    #expect(Self.preferred("application/openmetrics-text;q=0, */*") == .text)
    #expect(Self.preferred("text/plain;q=0, application/openmetrics-text;q=0.001") == .openMetrics)
    #expect(Self.preferred("text/plain;q=0, application/openmetrics-text;q=0, */*;q=0.1") == .protobuf)
    #expect(Self.preferred("application/*") == .openMetrics)
    #expect(Self.preferred("Application/OpenMetrics-Text; Version=\"1.0.0\"; charset=UTF-8") == .openMetrics)
  }

  @Test(
    "who refuses text and accepts nothing else gets nothing", arguments: ["text/plain;q=0", "*/*;q=0", "text/*;q=0.0"])
  func refused(accept: String) {
    #expect(Self.preferred(accept) == nil)
  }
}
