import ReachTestSupport
import Testing

@testable import EndToEndTools

/// The form of the delivered dashboards: what Grafana and a reader of a diff count on.
@Suite struct DashboardFormTests {
  @Test(
    "Grafana's own types know every key, and take every value for what it is",
    .enabled(if: PythonPackages.areAvailable, "\(PythonPackages.requirement)"))
  func types() throws {
    // What belongs to Prometheus's annotations alone and is no part of the dashboard's types.
    let program = #"""
      import json, sys
      from grafana_foundation_sdk.cog.encoder import JSONEncoder
      from grafana_foundation_sdk.cog.plugins import register_default_plugins
      from grafana_foundation_sdk.models.dashboard import Dashboard

      foreign = {"step", "tagKeys", "textFormat", "titleFormat", "useValueForTime"}

      def unknown(before, after, path):
          if isinstance(before, dict) and isinstance(after, dict):
              for key, value in before.items():
                  if key in after:
                      yield from unknown(value, after[key], path + "." + key)
                  elif not (path.startswith(".annotations.list") and key in foreign):
                      yield path + "." + key
          elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
              for index, value in enumerate(before):
                  yield from unknown(value, after[index], f"{path}[{index}]")
          elif before != after:
              yield f"{path}: {before!r} becomes {after!r}"

      register_default_plugins()
      before = json.load(sys.stdin)
      after = json.loads(JSONEncoder().encode(Dashboard.from_json(before)))
      print("\n".join(unknown(before, after, "")), end="")
      """#
    for path in try Dashboard.paths {
      let ended = try PythonPackages.run(program, input: Repository.text(path))
      #expect(ended.isSuccess && ended.output == "", "\(path): \(ended.output)")
    }
  }

  @Test("all jobs are those of reachd and no others of the same Prometheus", arguments: try Dashboard.paths)
  func jobs(path: String) throws {
    let job = try #require(try Dashboard(path).variables.first { $0["name"]?.text == "job" })
    // With a word of its own for all, such as `.+`, a panel that asks `up` would count every exporter.
    #expect(job["includeAll"] == .boolean(true) && job["allValue"] == nil)
    #expect(job["query"]?["query"]?.text == "label_values(reachd_build_info, job)")
  }

  @Test("the text is as `jq -S .` has it, so that an edit in Grafana is a small difference")
  func text() throws {
    for path in try Dashboard.paths {
      let text = try Repository.text(path)
      let sorted = try runProgram(
        ["python3", "-m", "json.tool", "--sort-keys", "--indent", "2", "--no-ensure-ascii"], input: text)
      #expect(sorted.isSuccess && sorted.output == text, "jq -S . \(path) prints another text")
    }
  }

  @Test("every panel has a place of its own, a number, a title, and says what it shows", arguments: try Dashboard.paths)
  func panels(path: String) throws {
    let dashboard = try Dashboard(path)
    #expect(dashboard.uid == path.split(separator: "/").last?.split(separator: ".").first.map(String.init))
    #expect(dashboard.json["id"] == nil && dashboard.json["__inputs"] == nil)
    let numbers = dashboard.placed.compactMap { $0["id"]?.number }
    #expect(numbers.count == dashboard.placed.count && Set(numbers).count == numbers.count)
    var taken: [Int: String] = [:]
    for panel in dashboard.placed {
      let title = try #require(panel["title"]?.text)
      let place = ["x", "y", "w", "h"].compactMap { panel["gridPos"]?[$0]?.number }.map { Int($0) }
      try #require(place.count == 4, "\(title)")
      #expect(place[0] >= 0 && place[2] > 0 && place[3] > 0 && place[0] + place[2] <= 24, "\(title)")
      for y in place[1]..<place[1] + place[3] {
        for x in place[0]..<place[0] + place[2] {
          let other = taken.updateValue(title, forKey: y * 24 + x)
          #expect(other == nil, "\(title) lies on \(other ?? "")")
        }
      }
    }
    for panel in dashboard.panels {
      let title = panel["title"]?.text ?? ""
      #expect(!title.isEmpty && panel["description"]?.text?.isEmpty == false, "\(title)")
      let names = panel["targets"]?.elements.compactMap { $0["refId"]?.text } ?? []
      #expect(!names.isEmpty && Set(names).count == names.count, "\(title)")
    }
  }

  @Test(
    "data comes from the chosen Prometheus alone, and every query is of the chosen agents",
    arguments: try Dashboard.paths)
  func sources(path: String) throws {
    let dashboard = try Dashboard(path)
    let chosen = try JSON(parsing: #"{ "type": "prometheus", "uid": "${datasource}" }"#)
    let askers =
      dashboard.panels + dashboard.panels.flatMap { $0["targets"]?.elements ?? [] } + dashboard.annotations
      + dashboard.variables.filter { $0["type"]?.text == "query" }
    for asker in askers { #expect(asker["datasource"].map(Self.sorted) == Self.sorted(chosen), "\(asker)") }
    for query in dashboard.queries {
      // Each selector, and not only one of them.
      for match in query.expression.matches(of: /\{([^}]*)\}/) {
        #expect(match.output.1.contains("$job") && match.output.1.contains("$instance"), "\(query.place)")
        if query.expression.contains("reachability_"), match.output.1.contains("target") {
          #expect(match.output.1.contains("$team"), "\(query.place)")
        }
      }
      // In quotes a variable that takes one value is compared, and one that takes several is matched.
      for variable in dashboard.variables {
        let name = variable["name"]?.text ?? ""
        let isMany = variable["multi"] == .boolean(true)
        #expect(!query.expression.contains((isMany ? "=\"$" : "=~\"$") + name + "\""), "\(query.place): \(name)")
      }
    }
  }

  @Test(
    "a link leads to a dashboard that is delivered, and hands over variables that it has",
    arguments: try Dashboard.paths)
  func links(path: String) throws {
    let dashboard = try Dashboard(path)
    let others = try Dashboard.paths.map { try Dashboard($0) }
    let links = Dashboard.texts(in: dashboard.json).filter { $0.hasPrefix("/d/") }
    #expect(!links.isEmpty)
    for link in links {
      let uid = link.dropFirst(3).prefix { $0 != "?" && $0 != "/" }
      let other = try #require(others.first { $0.uid == uid }, "\(link)")
      #expect(other.uid != dashboard.uid)
      let names = Set(other.variables.compactMap { $0["name"]?.text })
      for match in link.matches(of: /var-(\w+)=/) { #expect(names.contains(String(match.output.1)), "\(link)") }
    }
    // Links that hand over all variables hand over those of the same name: both have these.
    for name in ["datasource", "job", "instance", "team", "target"] {
      #expect(dashboard.variables.contains { $0["name"]?.text == name }, "\(name)")
    }
  }

  private static func sorted(_ json: JSON) -> [String] {
    json.names.sorted().map { "\($0)=\(json[$0]?.text ?? "")" }
  }
}
