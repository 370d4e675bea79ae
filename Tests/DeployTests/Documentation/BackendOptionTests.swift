import ReachTestSupport
import Testing

@testable import EndToEndTools

/// What `docs/configuration.md` and the README of each plugin say of the options of backends, and what the plugins say.
@Suite(.timeLimit(.minutes(4)))
struct BackendOptionTests {
  private struct Option: Hashable {
    let backend: String
    let name: String
    let defaultValue: String?
  }

  private static func declared() async throws -> [Option] {
    let file = try TestFolder()
    let config = try file.write("plugin_path: ['\(Reachd.folder)']\n", to: "reachd.yaml")
    let ended = try await Reachd.run("plugins", "--json", "--config", config)
    return try JSON(parsing: ended.output).elements.flatMap { plugin in
      let backend = try #require(plugin["name"]?.text)
      return try #require(plugin["options"]).elements.map { option in
        Option(backend: backend, name: option["name"]?.text ?? "", defaultValue: option["default"].flatMap(Self.text))
      }
    }
  }

  private static func text(_ value: JSON) -> String? {
    switch value {
    case .string(let text): text
    case .boolean(let truth): "\(truth)"
    case .number(let number): "\(Int(number))"
    default: nil
    }
  }

  @Test("the configuration's page has every option that a plugin declares, with its default, and no other")
  func page() async throws {
    let standard = ["link", "route", "dns", "tcp"]
    let declared = try await Self.declared().filter { standard.contains($0.backend) }
    let keys = DocumentedKey.all(in: try Repository.text("docs/configuration.md"))
    let documented = keys.filter { standard.contains($0.section) }.map {
      Option(backend: $0.section, name: $0.name, defaultValue: $0.defaultValue)
    }
    #expect(!declared.isEmpty)
    // `timeout` is the framework's, and stands above those of the plugins.
    #expect(Set(documented) == Set(declared.filter { $0.name != "timeout" }))
    #expect(keys.filter { $0.section == "BACKENDS" }.map(\.name) == ["timeout"])
  }

  @Test("the README of each plugin has its options and no other", arguments: ["Link", "DNS", "TCP", "Route"])
  func readme(name: String) async throws {
    let backend = name.lowercased()
    let page = Page("README", text: try Repository.text("Plugins/\(name)Probe/README.md"))
    let section = page.text.split(separator: "\n## ").first { $0.hasPrefix("Options\n") } ?? ""
    let documented = Set(section.matches(of: /\n\| `([a-z_]+)` \|/).map { String($0.output.1) }).subtracting(["timeout"]
    )
    let declared = Set(try await Self.declared().filter { $0.backend == backend }.map(\.name)).subtracting(["timeout"])
    #expect(documented == declared)
  }
}
