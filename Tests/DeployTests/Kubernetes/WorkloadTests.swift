import ReachTestSupport
import Testing

@testable import EndToEndTools

/// What the two workloads ask of the cluster, and whether what must agree does.
@Suite(
  .enabled(if: PythonPackages.areAvailable, "\(PythonPackages.requirement)"), .timeLimit(.minutes(5)))
struct WorkloadTests {
  private struct Workload {
    let kind: String
    let object: JSON
    var pod: JSON { object.at("spec.template.spec") ?? .null }
    var container: JSON { pod.at("containers.0") ?? .null }
  }

  private static func workloads(of objects: [JSON]) throws -> [Workload] {
    try ["DaemonSet", "Deployment"].map { kind in
      Workload(kind: kind, object: try #require(JSON.only(kind, in: objects)))
    }
  }

  @Test("both views run as nobody, without a capability, on a root that cannot be written, and know no token")
  func restricted() throws {
    for workload in try Self.workloads(of: KubernetesObjects.objects("all")) {
      let (pod, container) = (workload.pod, workload.container)
      #expect(pod.at("securityContext.runAsNonRoot") == .boolean(true))
      #expect((pod.at("securityContext.runAsUser")?.number ?? 0) > 0)
      #expect(pod.at("securityContext.seccompProfile.type")?.text == "RuntimeDefault")
      #expect(pod["automountServiceAccountToken"] == .boolean(false))
      #expect(container.at("securityContext.allowPrivilegeEscalation") == .boolean(false))
      #expect(container.at("securityContext.readOnlyRootFilesystem") == .boolean(true))
      #expect(container.at("securityContext.capabilities.drop") == .array([.string("ALL")]))
      #expect(container.at("securityContext.capabilities.add") == nil)
      // The configuration as a folder, since a file by itself (subPath) never changes.
      for mount in container["volumeMounts"]?.elements ?? [] { #expect(mount["subPath"] == nil) }
      let isNode = workload.kind == "DaemonSet"
      #expect(pod["hostNetwork"] == (isNode ? .boolean(true) : nil))
      #expect(pod["dnsPolicy"]?.text == (isNode ? "Default" : "ClusterFirst"))
    }
  }

  @Test("the user of the pods is that of the image")
  func user() throws {
    let dockerfile = try Repository.text("deploy/container/Dockerfile")
    for workload in try Self.workloads(of: KubernetesObjects.objects("all")) {
      let id = Int(workload.pod.at("securityContext.runAsUser")?.number ?? 0)
      let group = Int(workload.pod.at("securityContext.runAsGroup")?.number ?? 0)
      #expect(dockerfile.contains("\nUSER \(id):\(group)\n"))
    }
  }

  @Test("one port: where the agent listens, what is probed, scraped and let through")
  func ports() throws {
    let objects = try KubernetesObjects.objects("all")
    for workload in try Self.workloads(of: objects) {
      let port = try #require(workload.container.at("ports.0"))
      let number = Int(port["containerPort"]?.number ?? 0)
      if workload.kind == "DaemonSet" {
        #expect(port["hostPort"]?.number == Double(number))
        #expect(workload.container["args"]?.elements.last?.text?.hasSuffix(":\(number)") == true)
      } else {
        #expect(try Repository.text("deploy/kubernetes/base/pod/reachd.yaml").contains("listen: [\":\(number)\"]"))
        let policy = JSON.only("NetworkPolicy", in: objects)
        #expect(policy?.at("spec.ingress.0.ports.0.port")?.number == Double(number))
      }
      for probe in ["startupProbe", "livenessProbe", "readinessProbe"] {
        #expect(workload.container.at("\(probe).httpGet.port") == port["name"], "\(probe)")
      }
      let monitor = JSON.only("PodMonitor", in: objects)
      #expect(monitor?.at("spec.podMetricsEndpoints.0.port") == port["name"])
    }
  }

  @Test("selectors find the pods of their own view, and the monitor those of both")
  func selectors() throws {
    let objects = try KubernetesObjects.objects("all")
    let monitor = try #require(JSON.only("PodMonitor", in: objects)?.at("spec.selector.matchLabels"))
    for workload in try Self.workloads(of: objects) {
      let labels = try #require(workload.object.at("spec.template.metadata.labels"))
      #expect(workload.object.at("spec.selector.matchLabels") == labels)
      for name in monitor.names { #expect(labels[name] == monitor[name]) }
      let view = try #require(labels["app.kubernetes.io/component"]?.text)
      #expect(workload.pod["serviceAccountName"]?.text == "reachd-\(view)")
      #expect(workload.pod.at("volumes.0.configMap.name")?.text == "reachd-\(view)")
      #expect(JSON.only("ConfigMap", named: "reachd-\(view)", in: objects) != nil)
      let account = JSON.only("ServiceAccount", named: "reachd-\(view)", in: objects)
      #expect(account?["automountServiceAccountToken"] == .boolean(false))
      if workload.kind == "Deployment" {
        #expect(JSON.only("NetworkPolicy", in: objects)?.at("spec.podSelector.matchLabels") == labels)
        #expect(JSON.only("PodDisruptionBudget", in: objects)?.at("spec.selector.matchLabels") == labels)
      }
    }
  }

  @Test("each configuration is valid, and the pod view may reach the ports of its targets")
  func configurations() async throws {
    let folder = try TestFolder()
    let objects = try KubernetesObjects.objects("all") + KubernetesObjects.objects("example")
    let allowed = JSON.only("NetworkPolicy", in: try KubernetesObjects.objects("pod"))?.at("spec.egress")?.elements
      .flatMap { $0["ports"]?.elements ?? [] }.compactMap { $0["port"]?.number }
    for object in objects where object["kind"]?.text == "ConfigMap" {
      let text = try #require(object["data"]?["reachd.yaml"]?.text)
      #expect(text.contains("\nwatch: true\n"))
      let file = try folder.write(text, to: "reachd.yaml")
      let ended = try await Reachd.run("check", "--config", file)
      #expect(ended.status == 0, "\(ended.errors)")
      guard object.at("metadata.name")?.text == "reachd-pod" else { continue }
      for line in text.split(separator: "\n") {
        let words = line.split(separator: " ")
        if words.first == "port:", let port = Double(words[1]) { #expect(allowed?.contains(port) == true) }
      }
    }
  }
}
