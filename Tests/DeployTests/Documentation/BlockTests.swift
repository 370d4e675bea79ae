import Glibc
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// That whoever copies a block of the documentation has something that works: each is given to the program that it is
/// for, which the key it begins with tells.
@Suite(.timeLimit(.minutes(8)))
struct BlockTests {
  /// Whom a block of YAML is for.
  private enum Reader: String {
    case reachd, webConfig, blackbox, prometheus, rules, alertmanager, kubernetes, grafana, targets
  }

  private static func yaml() throws -> [(block: Page.Block, reader: Reader)] {
    try Page.all().flatMap(\.blocks).filter { $0.language == "yaml" }.map { block in
      let reader = try reader(of: block.text)
      return (block, try #require(reader, "\(block): nobody knows what this block is"))
    }
  }

  private static func reader(of text: String) throws -> Reader? {
    let first = text.matches(of: /(?m)^(- )?([A-Za-z_]+|"?x-[a-z]+"?):/).first
    guard let key = first.map({ String($0.output.2) }) else { return nil }
    if first?.output.1 != nil { return key == "targets" ? .targets : nil }
    let file = DocumentedKey.all(in: try Repository.text("docs/configuration.md")).filter { $0.section == "THE FILE" }
    if key == "modules", text.contains("prober:") { return .blackbox }
    if file.contains(where: { $0.name == key }) || key.contains("x-") { return .reachd }
    switch key {
    case "tls_server_config", "http_server_config", "basic_auth_users", "rate_limit": return .webConfig
    case "scrape_configs", "global", "rule_files", "alerting": return .prometheus
    case "groups": return .rules
    case "route", "receivers", "inhibit_rules": return .alertmanager
    case "apiVersion" where text.contains(/(?m)^(datasources|providers):/): return .grafana
    case "apiVersion", "kind": return .kubernetes
    // A part of one, with what is around it left out.
    case "spec", "securityContext", "configMapGenerator", "patches", "images", "components", "resources":
      return .kubernetes
    default: return nil
    }
  }

  @Test("every configuration of reachd passes reachd check, and warns of nothing")
  func configurations() async throws {
    var count = 0
    for (block, reader) in try Self.yaml() where reader == .reachd {
      count += 1
      let folder = try TestFolder()
      // Where a package puts the plugins, there are none on a machine that builds them.
      var text = block.text.replacing("/usr/lib/reachd/plugins", with: Reachd.folder)
      // The example of a backend is built outside of the tree; where it is loaded, its options are checked.
      let isExample = text.contains("greeting")
      if isExample, !text.contains("backends:") {
        text = "backends: { link: {}, route: {}, dns: {}, tcp: {}, greeting: {} }\n" + text
      }
      let file = try folder.write(text, to: "reachd.yaml")
      let ended = try await Reachd.run("check", "--config", file)
      #expect(ended.status == 0, "\(block)\n\(ended.errors)")
      let warnings = ended.errors.split(separator: "\n").filter { $0.contains(": warning: ") }
      #expect(
        warnings.allSatisfy {
          $0.contains("there are no targets") || isExample && $0.contains("no libGreetingProbe.so")
        }, "\(block)\n\(ended.errors)")
    }
    #expect(count > 15)
  }

  @Test(
    "every file for web.config is taken, with certificates of the names in it", .enabled(if: TestAuthority.isAvailable))
  func webConfigurations() async throws {
    let authority = try TestAuthority()
    let server = try authority.issue("server", for: ["DNS:localhost"])
    var count = 0
    for (block, reader) in try Self.yaml() where reader == .webConfig {
      count += 1
      let folder = try TestFolder()
      for match in block.text.matches(of: /(?m)^\s*([a-z_]+)_file:\s*(\S+)/) {
        let file =
          switch match.output.1 {
          case "cert": server.certificate
          case "key": server.key
          default: authority.certificate
          }
        try folder.write(try textOfFile(file), to: String(match.output.2))
      }
      try folder.write(block.text, to: "web.yaml")
      let config = try folder.write("targets: [default]\nweb: { config: web.yaml }\n", to: "reachd.yaml")
      let ended = try await Reachd.run("check", "--config", config)
      #expect(ended.status == 0, "\(block)\n\(ended.errors)")
      #expect(!ended.errors.contains("warning"), "\(block)\n\(ended.errors)")
    }
    #expect(count > 0)
  }

  @Test(
    "every configuration of Prometheus, and every file of rules, passes promtool",
    .enabled(if: Prometheus.isAvailable))
  func prometheus() async throws {
    var count = 0
    for (block, reader) in try Self.yaml() where reader == .prometheus || reader == .rules {
      count += 1
      let folder = try TestFolder()
      let file = try folder.write(block.text, to: "prometheus.yml")
      let words = reader == .rules ? ["check", "rules"] : ["check", "config", "--syntax-only"]
      let result = try runProgram(["promtool"] + words + [file])
      #expect(result.isSuccess, "\(block)\n\(result.output)")
    }
    #expect(count > 1)
  }

  @Test("every expression of Prometheus can be parsed", .enabled(if: Prometheus.isAvailable))
  func expressions() throws {
    var rules = "groups:\n- name: documented\n  rules:\n"
    var count = 0
    for block in try Page.all().flatMap(\.blocks) where block.language == "promql" {
      for expression in Self.expressions(block.text) {
        count += 1
        rules += "  - record: documented:\(count)\n    expr: |\n"
        for line in expression.split(separator: "\n") { rules += "      \(line)\n" }
      }
    }
    let folder = try TestFolder()
    let result = try runProgram(["promtool", "check", "rules", try folder.write(rules, to: "rules.yml")])
    #expect(result.isSuccess, "\(result.output)\n\(rules)")
    #expect(result.output.contains("\(count) rules found"), "\(result.output)")
    #expect(count > 5)
  }

  /// Those of a block: each begins at the margin, with a word or a bracket, and not with an operator.
  private static func expressions(_ text: String) -> [String] {
    var expressions: [String] = []
    for line in text.split(separator: "\n") {
      let goesOn =
        line.hasPrefix(" ") || line.hasPrefix(")") || line.prefixMatch(of: /(\*|\/|-|\+|unless|and|or)(\s|$)/) != nil
      let isOpen = expressions.last.map { text in
        text.count { $0 == "(" } > text.count { $0 == ")" } || text.hasSuffix("/") || text.hasSuffix("*")
      }
      if goesOn || isOpen == true, let last = expressions.popLast() {
        expressions.append(last + "\n" + line)
      } else {
        expressions.append(String(line))
      }
    }
    return expressions
  }

  @Test("every configuration of blackbox_exporter is one, and what reachd lacks of it is all that is refused")
  func blackbox() async throws {
    for (block, reader) in try Self.yaml() where reader == .blackbox {
      let folder = try TestFolder()
      let file = try folder.write(block.text, to: "blackbox.yml")
      let ended = try await Reachd.run("check", "--blackbox", file)
      #expect(!ended.output.isEmpty, "\(block)\n\(ended.errors)")
      for line in ended.errors.split(separator: "\n") {
        #expect(line.contains("which reachd does not have"), "\(block)\n\(line)")
      }
      let program = "/usr/bin/prometheus-blackbox-exporter"
      guard TestRequirements.areAllRequired || (unsafe access(program, X_OK)) == 0 else { continue }
      let result = try runProgram([program, "--config.check", "--config.file=\(file)"])
      #expect(result.isSuccess, "\(block)\n\(result.output)")
    }
  }

  @Test("every route of Alertmanager passes amtool")
  func alertmanager() throws {
    for (block, reader) in try Self.yaml() where reader == .alertmanager {
      let folder = try TestFolder()
      let result = try runProgram(["amtool", "check-config", try folder.write(block.text, to: "alertmanager.yml")])
      #expect(result.isSuccess, "\(block)\n\(result.output)")
    }
  }

  @Test(
    "every other block of YAML can be read", .enabled(if: PythonPackages.areAvailable, "\(PythonPackages.requirement)"))
  func others() throws {
    for (block, reader) in try Self.yaml() {
      let program = "import sys, yaml; sys.exit(0 if list(yaml.safe_load_all(sys.stdin.read())) else 1)"
      let result = try PythonPackages.run(
        "import sys\nsys.path.insert(0, '\(PythonPackages.source("PyYAML"))/lib')\n" + program, input: block.text)
      #expect(result.isSuccess, "\(block) (\(reader))\n\(result.output)")
    }
  }

  @Test("every block of JSON can be read")
  func json() throws {
    for block in try Page.all().flatMap(\.blocks) where block.language == "json" {
      #expect(throws: Never.self, "\(block)") { try JSON(parsing: block.text) }
    }
  }

  @Test("every block says in which language it is")
  func languages() throws {
    let known: Set = [
      "yaml", "json", "promql", "console", "sh", "bash", "text", "ini", "swift", "dockerfile", "toml", "make", "python",
    ]
    for block in try Page.all().flatMap(\.blocks) {
      #expect(known.contains(block.language), "\(block): '\(block.language)'")
    }
  }
}
