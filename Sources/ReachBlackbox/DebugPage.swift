/// The page that says everything about one probe, as blackbox_exporter's does.
public enum DebugPage {
  /// The text of the page: what happened, the metrics, and the module as YAML.
  public static func text(log: ProbeLogbook, metrics: ProbeMetrics, module: String) -> String {
    "Logs for the probe:\n\(log.text)\n\n\nMetrics that would have been returned:\n\(metrics.text)"
      + "\n\n\nModule configuration:\n\(module)"
  }
}
