import ReachTestSupport
import Testing

@testable import EndToEndTools

/// The files by which Grafana and Kubernetes take the dashboards up.
@Suite(.enabled(if: PythonYAML.isAvailable, "needs Debian's package python3-yaml"))
struct ProvisioningTests {
  private static let folder = "deploy/grafana/"

  @Test("the provider takes every dashboard from where the documentation puts them")
  func provider() throws {
    let file = try PythonYAML.json(Self.folder + "provisioning/dashboards/reachd.yaml")
    #expect(file["apiVersion"] == .number(1))
    let provider = try #require(file["providers"]?[0])
    #expect(Set(provider.names) == ["name", "type", "folder", "allowUiUpdates", "updateIntervalSeconds", "options"])
    #expect(provider["type"] == .string("file"))
    let path = try #require(provider["options"]?["path"]?.text)
    let page = try Repository.text("docs/dashboards.md")
    #expect(page.contains("-t \(path) deploy/grafana/*.json"))
  }

  @Test("the documented commands put the files where Grafana and the provider look for them")
  func commands() throws {
    let commands = try DocumentedPage("docs/dashboards.md").commands.map(\.text)
    try #require(commands.count == 2)
    let folder = try TestFolder()
    for command in commands {
      let staged = command.replacing(" /", with: " \(folder.path)/")
      let ended = try runProgram(["env", "--chdir=\(Reachd.sources)", "sh", "-c", staged])
      #expect(ended.isSuccess, "\(ended.output)")
    }
    for path in try Dashboard.paths {
      let name = path.split(separator: "/").last ?? ""
      let installed = try textOfFile("\(folder.path)/var/lib/grafana/dashboards/reachd/\(name)")
      #expect(try installed == Repository.text(path))
    }
    let provider = try textOfFile(folder.path + "/etc/grafana/provisioning/dashboards/reachd.yaml")
    #expect(try provider == Repository.text(Self.folder + "provisioning/dashboards/reachd.yaml"))
  }

  @Test("the data source has the scrape interval of the delivered Prometheus")
  func source() throws {
    let file = try PythonYAML.json(Self.folder + "provisioning/datasources/prometheus.yaml")
    #expect(file["apiVersion"] == .number(1))
    let source = try #require(file["datasources"]?[0])
    #expect(Set(source.names) == ["name", "type", "access", "url", "isDefault", "jsonData"])
    #expect(source["type"] == .string("prometheus"))
    let prometheus = try PythonYAML.json("deploy/prometheus/prometheus.yml")
    let interval = try #require(prometheus["global"]?["scrape_interval"]?.text)
    #expect(source["jsonData"]?["timeInterval"]?.text == interval)
  }

  @Test("each dashboard becomes a ConfigMap that the sidecar finds and that can be applied")
  func configMaps() throws {
    let file = try PythonYAML.json(Self.folder + "kustomization.yaml")
    #expect(file["kind"] == .string("Kustomization"))
    #expect(file["generatorOptions"]?["labels"]?["grafana_dashboard"] == .string("1"))
    let maps = file["configMapGenerator"]?.elements ?? []
    let files = maps.flatMap { $0["files"]?.elements.compactMap(\.text) ?? [] }
    #expect(files.map { Self.folder + $0 }.sorted() == (try Dashboard.paths.sorted()))
    #expect(maps.allSatisfy { $0["files"]?.elements.count == 1 })
    // `kubectl apply` keeps the object in one of its annotations, which hold 256 KiB together.
    for file in try Dashboard.paths {
      let escaped = try Repository.text(file).utf8.reduce(0) { sum, byte in
        sum + ([0x22, 0x5c, 0x0a].contains(byte) ? 2 : 1)
      }
      #expect(escaped < 240 * 1024, "\(file)")
    }
  }
}

/// Debian's python3-yaml.
private enum PythonYAML {
  static let isAvailable = TestRequirements.areAllRequired || isInstalled

  private static var isInstalled: Bool { (try? run("").isSuccess) ?? false }

  private static func run(_ text: String) throws -> ProgramResult {
    let program = "import sys, json, yaml; print(json.dumps(yaml.safe_load(sys.stdin.read())))"
    return try runProgram(["/usr/bin/python3", "-c", program], input: text)
  }

  /// What a file of the repository says.
  static func json(_ path: String) throws -> JSON {
    let ended = try run(Repository.text(path))
    guard ended.isSuccess else { throw ProgramRefusal("\(path): \(ended.output)") }
    return try JSON(parsing: ended.output)
  }
}
