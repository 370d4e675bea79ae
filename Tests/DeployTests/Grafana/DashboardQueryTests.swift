import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// Every query of the delivered dashboards, asked of a real Prometheus that holds real data.
@Suite(
  .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"),
  .enabled(if: Prometheus.isAvailable, "needs Debian's package prometheus"),
  .enabled(if: NameServer.isAvailable, "needs Debian's package nsd"), .serialized, .timeLimit(.minutes(5)))
struct DashboardQueryTests {
  /// Where Prometheus keeps native histograms, it has no fixed buckets, of which this is a picture.
  private static let ofBuckets = "reachd-host: All durations A"

  @Test(
    "every query of every panel, variable and annotation finds what it is to show, the bad news too",
    arguments: [[], ["native-histograms"]])
  func queries(features: [String]) async throws {
    let dashboards = try Dashboard.paths.map { try Dashboard($0) }
    #expect(Set(dashboards.map(\.uid)) == ["reachd-fleet", "reachd-host"])
    try await withNetworkNamespace { loop, stage in
      let fleet = try await StagedFleet(stage, enabling: features, on: loop)
      for dashboard in dashboards {
        for everything in [true, false] {
          let expected = features.isEmpty || dashboard.uid != "reachd-host" ? [] : [Self.ofBuckets]
          var unanswered: [String] = []
          // A busy machine may miss the last scrape, and a moment later there is another one.
          let asking = try? await eventually("all answers", on: loop, within: .seconds(20)) {
            let asking = try await DashboardAsking(dashboard, choosing: everything ? nil : [:], of: fleet)
            unanswered = try await asking.unanswered()
            return unanswered == expected ? asking : nil
          }
          #expect(unanswered == expected)
          for line in try await asking?.mistakes() ?? [] { Issue.record("\(line)") }
        }
        try await Self.checkTeam(dashboard, fleet)
      }
      #expect(try await fleet.agent.stop() == 0)
    }
  }

  /// One team is what a person looks at: the others' targets are in no answer about targets.
  private static func checkTeam(_ dashboard: Dashboard, _ fleet: StagedFleet) async throws {
    let asking = try await DashboardAsking(dashboard, choosing: ["team": ["storage"]], of: fleet)
    let targets = try await asking.targets()
    #expect(targets == ["db", "web"], "\(dashboard.uid): \(targets)")
  }
}
