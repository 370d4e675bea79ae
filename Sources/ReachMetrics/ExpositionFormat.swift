/// How an exposition is written.
public enum ExpositionFormat: String, Hashable, Sendable, CaseIterable {
  /// Prometheus' text format 0.0.4, which everything reads.
  case text
  /// OpenMetrics 1.0: the text format with units, info metrics and exemplars.
  case openMetrics
  /// Prometheus' protocol buffers (io.prometheus.client.MetricFamily of its client_model), each with its length before
  /// it: the one format that has native histograms.
  case protobuf

  /// The value of Content-Type.
  public var contentType: String {
    switch self {
    case .text: "text/plain; version=0.0.4; charset=utf-8"
    case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
    case .protobuf:
      "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
    }
  }
}
