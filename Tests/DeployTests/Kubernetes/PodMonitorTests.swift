import ReachTestSupport
import Testing

@testable import EndToEndTools

/// The PodMonitor's relabelling, done by Prometheus on what it would be told of two pods.
@Suite(
  .enabled(if: PythonPackages.areAvailable, "\(PythonPackages.requirement)"),
  .enabled(if: Prometheus.isAvailable, "needs Debian's package prometheus"), .timeLimit(.minutes(5)))
struct PodMonitorTests {
  /// The labels that the Prometheus Operator puts on a pod's series first.
  private static func discovered(_ view: String, pod: String) -> String {
    """
    { __meta_kubernetes_pod_name: \(pod), __meta_kubernetes_pod_node_name: node-7,
      __meta_kubernetes_pod_label_app_kubernetes_io_component: \(view),
      pod: \(pod), namespace: reachd, container: reachd }
    """
  }

  /// The labels of each pod's series, in the order of the pods.
  private static func labels() throws -> [JSON] {
    let objects = try KubernetesObjects.objects("all")
    let steps = try #require(
      JSON.only("PodMonitor", in: objects)?.at("spec.podMetricsEndpoints.0.relabelings")?.elements)
    let spellings = ["sourceLabels": "source_labels", "targetLabel": "target_label"]
    let rules = steps.map { step in
      let fields = step.names.map { name in
        let value = step[name] ?? .null
        let words = value.elements.compactMap(\.text).joined(separator: ", ")
        return "\(spellings[name] ?? name): " + (value.text.map { "'\($0)'" } ?? "[\(words)]")
      }
      return "      - { \(fields.joined(separator: ", ")) }\n"
    }
    let folder = try TestFolder()
    let file = try folder.write(
      """
      scrape_configs:
        - job_name: reachd
          static_configs:
            - targets: ["192.0.2.7:10120"]
              labels: \(discovered("node", pod: "reachd-node-k2x7c"))
            - targets: ["198.51.100.9:10120"]
              labels: \(discovered("pod", pod: "reachd-pod-6d5f-9zq4w"))
          relabel_configs:
      \(rules.joined())
      """, to: "prometheus.yml")
    let ended = try runProgram(["promtool", "check", "service-discovery", file, "reachd"])
    #expect(ended.isSuccess, "\(ended.output)")
    return try JSON(parsing: ended.output).elements.compactMap { $0["labels"] }
      .sorted { ($0["__address__"]?.text ?? "") < ($1["__address__"]?.text ?? "") }
  }

  @Test("an agent of the node view goes by its node, whatever its pod is called, one of the pod view by its pod")
  func instances() throws {
    let labels = try Self.labels()
    try #require(labels.count == 2)
    #expect(labels[0]["instance"]?.text == "node-7")
    #expect(labels[0]["pod"] == nil)
    #expect(labels[1]["instance"]?.text == "reachd-pod-6d5f-9zq4w")
    #expect(labels[1]["pod"]?.text == "reachd-pod-6d5f-9zq4w")
    #expect(labels.allSatisfy { $0["job"]?.text == "reachd" && $0["node"]?.text == "node-7" })
  }
}
