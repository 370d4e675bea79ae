import ReachTestSupport

@testable import EndToEndTools

/// A dashboard as Grafana asks for it, with something chosen for each of its variables.
///
/// Isolation: as the fleet's Prometheus.
struct DashboardAsking {
  private let dashboard: Dashboard
  private let prometheus: Prometheus
  private let variables: GrafanaVariables
  private let start: Int
  private let end: Int

  /// Chooses all by the dashboard's own word for it, where `choosing` is nil and the variable has one. Otherwise chooses
  /// what `choosing` names, and else each value that the variable offers, one by one; for team, which not all targets
  /// have, all.
  init(_ dashboard: Dashboard, choosing: [String: [String]]?, of fleet: StagedFleet) async throws {
    self.dashboard = dashboard
    prometheus = fleet.prometheus
    start = fleet.start
    let now = try await prometheus.client.json("/api/v1/query?query=time()")["data"]?["result"]?[1]?.text
    // Rounded up, so that what has been scraped by now is before it.
    end = Int(now.flatMap { Double($0) } ?? 0) + 1
    var variables = GrafanaVariables(range: end - start)
    for variable in dashboard.variables {
      let name = variable["name"]?.text ?? ""
      switch variable["type"]?.text {
      case "datasource": continue
      case "custom": try variables.choose(.values([variable["current"]?["value"]?.text ?? ""]), for: variable)
      case "query":
        let offered = try await Self.values(of: variable, variables, start...end, prometheus)
        guard !offered.isEmpty else { throw ProgramRefusal("\(dashboard.uid): \(name) offers nothing") }
        if let values = choosing?[name] {
          guard values.allSatisfy(offered.contains) else { throw ProgramRefusal("\(name) does not offer \(values)") }
          try variables.choose(.values(values), for: variable)
        } else if variable["allValue"]?.text != nil, choosing == nil || name == "team" {
          try variables.choose(.all, for: variable)
        } else {
          try variables.choose(.values(offered), for: variable)
        }
      default: throw ProgramRefusal("\(name) is of an unknown type")
      }
    }
    self.variables = variables
  }

  /// What a variable offers: `label_values(SELECTOR, LABEL)`.
  private static func values(
    of variable: JSON, _ variables: GrafanaVariables, _ range: ClosedRange<Int>, _ prometheus: Prometheus
  ) async throws -> [String] {
    let query = try variables.replacing(in: variable["query"]?["query"]?.text ?? "")
    guard let words = query.wholeMatch(of: /label_values\((.+), (\w+)\)/)?.output else {
      throw ProgramRefusal("no such query: \(query)")
    }
    let page = "/api/v1/label/\(words.2)/values?match[]=\(percentEncoded(String(words.1)))"
    return try await prometheus.client.json(page + "&start=\(range.lowerBound)&end=\(range.upperBound)")["data"]?
      .elements.compactMap(\.text) ?? []
  }

  /// The series that answer a query: those with a number that is one.
  private func answer(_ query: Dashboard.Query) async throws -> [JSON] {
    let expression = percentEncoded(try variables.replacing(in: query.expression))
    let page =
      query.isInstant
      ? "/api/v1/query?query=\(expression)&time=\(end)"
      : "/api/v1/query_range?query=\(expression)&start=\(start)&end=\(end)&step=1"
    let answer = try await prometheus.client.get(page)
    guard answer.status == 200 else { throw ProgramRefusal("\(query.place): \(answer.body)") }
    return try JSON(parsing: answer.body)["data"]?["result"]?.elements.filter { series in
      Self.numbers(of: series).contains { !$0.isNaN }
    } ?? []
  }

  private static func numbers(of series: JSON) -> [Double] {
    let points = series["values"]?.elements ?? [series["value"] ?? .null]
    return points.compactMap { $0[1]?.text.flatMap { Double($0) } }
  }

  // MARK: What is found

  /// The queries that found nothing.
  func unanswered() async throws -> [String] {
    var places: [String] = []
    for query in dashboard.queries where try await answer(query).isEmpty { places.append(query.place) }
    return places
  }

  /// Every target that an answer names.
  func targets() async throws -> [String] {
    var names: Set<String> = []
    for query in dashboard.queries {
      for series in try await answer(query) { if let name = series["metric"]?["target"]?.text { names.insert(name) } }
    }
    return names.sorted()
  }

  /// What is said of labels or columns that no answer has, and times that are none.
  func mistakes() async throws -> [String] {
    var lines: [String] = []
    var columns: [Double: Set<String>] = [:]
    for query in dashboard.queries {
      let series = try await answer(query)
      if series.isEmpty { continue }
      let labels = Set(series.flatMap { $0["metric"]?.names ?? [] })
      for text in query.texts {
        for match in text.matches(of: /\{\{(\w+)\}\}/) where !labels.contains(String(match.output.1)) {
          lines.append("\(query.place): there is no label \(match.output.1)")
        }
      }
      if query.owner["useValueForTime"] == .boolean(true) {
        let times = series.flatMap(Self.numbers)
        // The agent began a little before Prometheus.
        if !times.allSatisfy({ Double(start - 120) * 1000 <= $0 && $0 <= Double(end) * 1000 }) {
          lines.append("\(query.place): \(times.prefix(3)) are no milliseconds of now")
        }
      }
      if let number = query.owner["id"]?.number { columns[number, default: []].formUnion(labels) }
    }
    return lines
      + dashboard.panels.filter { $0["type"]?.text == "table" }.flatMap { panel in
        Self.wrongColumns(of: panel, labels: columns[panel["id"]?.number ?? -1] ?? [])
      }
  }

  /// What a table says of columns that it has not.
  private static func wrongColumns(of panel: JSON, labels: Set<String>) -> [String] {
    let title = panel["title"]?.text ?? ""
    let names = panel["targets"]?.elements.compactMap { $0["refId"]?.text } ?? []
    let values = names.count == 1 ? ["Value"] : names.map { "Value #" + $0 }
    var known = labels.union(values + ["Time"])
    var lines: [String] = []
    func check(_ name: String) {
      if !known.contains(name) { lines.append("the table \(title) has no column \(name)") }
    }
    for step in panel["transformations"]?.elements ?? [] {
      let options = step["options"]
      for part in ["indexByName", "excludeByName", "renameByName"] { options?[part]?.names.forEach(check) }
      for part in ["columnField", "rowField", "valueField"] { options?[part]?.text.map(check) }
      for old in options?["excludeByName"]?.names ?? [] { known.remove(old) }
      let renamed = options?["renameByName"]
      for old in renamed?.names ?? [] { known.remove(old) }
      known.formUnion(renamed?.names.compactMap { renamed?[$0]?.text } ?? [])
    }
    for override in panel["fieldConfig"]?["overrides"]?.elements ?? [] {
      override["matcher"]?["options"]?.text.map(check)
    }
    for sort in panel["options"]?["sortBy"]?.elements ?? [] { sort["displayName"]?.text.map(check) }
    for text in Dashboard.texts(in: panel) {
      for match in text.matches(of: /__data\.fields\.(\w+)/) { check(String(match.output.1)) }
    }
    return lines
  }
}
