import ReachTestSupport
import Testing

@testable import EndToEndTools

/// `deploy/kubernetes`, built by kustomize and held against the schemas of the API.
@Suite(
  .enabled(if: PythonPackages.areAvailable, "\(PythonPackages.requirement)"), .timeLimit(.minutes(5)))
struct KustomizeTests {
  private static let versions = ["1.28", "1.31", "1.34", "1.37"]

  @Test("each overlay is valid for Kubernetes 1.28 to 1.37", arguments: KubernetesObjects.overlays)
  func valid(overlay: String) throws {
    let ended = try KubernetesObjects.validate(try KubernetesObjects.text(overlay), for: Self.versions)
    #expect(ended.isSuccess, "\(ended.output)")
    #expect(ended.output.hasPrefix("valid: "))
  }

  @Test(
    "a field that does not exist, or is at the wrong place, is refused",
    arguments: [
      ("automountServiceAccountToken: false\n", "automountServiceAccountTokens: false\n"),
      ("readOnlyRootFilesystem: true\n", "readOnlyRootFileSystem: true\n"),
      ("sourceLabels:\n", "source_labels:\n"), ("podMetricsEndpoints:\n", "endpoints:\n"), ("for: ", "if: "),
    ])
  func invalid(right: String, wrong: String) throws {
    let text = try KubernetesObjects.text("all")
    let parts = text.split(separator: right, maxSplits: 1, omittingEmptySubsequences: false)
    try #require(parts.count == 2)
    let ended = try KubernetesObjects.validate(parts[0] + wrong + parts[1], for: [Self.versions[0]])
    #expect(!ended.isSuccess)
    #expect(ended.output.contains(wrong.split(separator: ":")[0]), "\(ended.output)")
  }

  @Test("the node view and the pod view can each be had alone")
  func views() throws {
    let node = try KubernetesObjects.objects("node").compactMap { $0["kind"]?.text }
    #expect(node.contains("DaemonSet") && !node.contains("Deployment") && !node.contains("NetworkPolicy"))
    let pod = try KubernetesObjects.objects("pod").compactMap { $0["kind"]?.text }
    #expect(pod.contains("Deployment") && pod.contains("NetworkPolicy") && !pod.contains("DaemonSet"))
  }

  @Test("namespace and image are set at one place each, and the image has this version")
  func settings() async throws {
    let version = try #require(try await Reachd.run("--version").output.split(separator: " ").dropFirst().first)
    let objects = try KubernetesObjects.objects("all")
    for kind in ["DaemonSet", "Deployment"] {
      let workload = try #require(JSON.only(kind, in: objects))
      #expect(workload.at("spec.template.spec.containers.0.image")?.text == "registry.example/reachd:\(version)")
    }
    // What belongs to a namespace is in it.
    for object in objects where !["Namespace", "PriorityClass"].contains(object["kind"]?.text) {
      #expect(object.at("metadata.namespace")?.text == "reachd", "\(object["kind"]?.text ?? "")")
    }
    let files = try Repository.files(in: "deploy/kubernetes").filter { !$0.contains("/example/") }
    let naming = try files.filter { try Repository.text($0).contains("registry.example") }
    #expect(naming == ["deploy/kubernetes/settings/kustomization.yaml"])

    let own = try KubernetesObjects.objects("example")
    let images = ["DaemonSet", "Deployment"].compactMap {
      JSON.only($0, in: own)?.at("spec.template.spec.containers.0.image")?.text
    }
    #expect(images == [String](repeating: "registry.internal.example/reachd:\(version)", count: 2))
    let config = JSON.only("ConfigMap", named: "reachd-node", in: own)
    #expect(config?["data"]?["reachd.yaml"]?.text?.contains("registry.internal.example") == true)
  }

  @Test("the alerts of the PrometheusRule are those of deploy/prometheus")
  func alerts() throws {
    let ended = try runProgram([Reachd.sources + "/.ci/prometheus-rule"])
    #expect(ended.isSuccess)
    #expect(
      try Repository.text("deploy/kubernetes/monitoring/prometheusrule.yaml") == ended.output,
      "run: .ci/prometheus-rule > deploy/kubernetes/monitoring/prometheusrule.yaml")
    let objects = try KubernetesObjects.objects("all")
    let groups = try #require(JSON.only("PrometheusRule", in: objects)?.at("spec.groups")?.elements)
    #expect(!groups.isEmpty && groups.allSatisfy { !($0["rules"]?.elements.isEmpty ?? true) })
  }
}
