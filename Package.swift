// swift-tools-version: 6.3
import PackageDescription

// The layers, from the bottom: ReachKit (its own package, one shared library), the agent's modules, which do not know
// one another, ReachAgent, which wires them, and the command. A plugin links ReachKit and nothing else of ours.

let kit: Target.Dependency = .product(name: "ReachKit", package: "ReachKit")
let support: Target.Dependency = "ReachTestSupport"
// An image or a package is built where there is no repository: its maker says which commit it is.
let revision =
  Context.environment["REACHD_REVISION"].flatMap { $0.isEmpty ? nil : $0 }
  ?? Context.gitInformation.map { String($0.currentCommit.prefix(12)) } ?? "unknown"

/// A C library of the system: a module map under Sources/ and a pkg-config name.
func system(_ name: String, _ pkgConfig: String, apt: String) -> Target {
  .systemLibrary(name: name, path: "Sources/\(name)", pkgConfig: pkgConfig, providers: [.apt([apt])])
}

/// A module of the agent.
func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: [kit] + dependencies)
}

/// A probe backend: the probe itself, which tests link, and the entry point, which only the shared library holds.
func plugin(_ name: String, _ dependencies: [Target.Dependency] = []) -> [Target] {
  [
    .target(
      name: name, dependencies: [kit] + dependencies, path: "Plugins/\(name)",
      exclude: ["README.md", "example.yaml", "EntryPoint"]),
    .target(name: "\(name)EntryPoint", dependencies: [kit, .target(name: name)], path: "Plugins/\(name)/EntryPoint"),
  ]
}

let plugins = ["LinkProbe", "RouteProbe", "DNSProbe", "TCPProbe"]

let package = Package(
  name: "reachd",
  products: [.executable(name: "reachd", targets: ["reachd"])]
    + plugins.map { .library(name: $0, type: .dynamic, targets: [$0, "\($0)EntryPoint"]) }
    // For the benchmarks, which are a package of their own, and for the tests of backends that are kept elsewhere.
    + [
      .library(name: "ReachMetrics", targets: ["ReachMetrics"]),
      .library(name: "ReachTestSupport", targets: ["ReachTestSupport"]),
    ],
  dependencies: [.package(path: "Sources/ReachKit")],
  targets: [
    system("CYAML", "yaml-0.1", apt: "libyaml-dev"),
    system("CMicroHTTPD", "libmicrohttpd", apt: "libmicrohttpd-dev"),
    system("CCares", "libcares", apt: "libc-ares-dev"),
    system("CIDN2", "libidn2", apt: "libidn2-dev"),
    system("CJansson", "jansson", apt: "libjansson-dev"),
    system("CZlib", "zlib", apt: "zlib1g-dev"),
    system("CGnuTLS", "gnutls", apt: "libgnutls28-dev"),
    system("CCrypt", "libcrypt", apt: "libcrypt-dev"),
    system("CSQLite", "sqlite3", apt: "libsqlite3-dev"),
    .target(name: "CReachRE2", linkerSettings: [.linkedLibrary("re2")]),
    .target(name: "CReachTLSClient", linkerSettings: [.linkedLibrary("gnutls")]),
    .target(name: "CReachBuild", cSettings: [.define("REACHD_REVISION", to: "\"\(revision)\"")]),
    .target(name: "CReachCurl"),
    module("ReachConfig", ["CYAML", "CIDN2", "CJansson", "CReachRE2"]),
    module("ReachPluginHost"),
    module("ReachScheduler"),
    module("ReachAggregator"),
    module("ReachMetrics"),
    module("ReachLog"),
    module("ReachState", ["CSQLite"]),
    module("ReachHTTP", ["CMicroHTTPD", "CZlib", "CGnuTLS", "CCrypt"]),
    module("ReachDiscovery", ["CCares", "CReachCurl", "ReachConfig"]),
    module("ReachBlackbox", ["ReachConfig", "CReachTLSClient"]),
    module(
      "ReachAgent",
      [
        "CReachBuild", "ReachConfig", "ReachPluginHost", "ReachScheduler", "ReachAggregator", "ReachMetrics",
        "ReachLog", "ReachState", "ReachHTTP", "ReachDiscovery", "ReachBlackbox",
      ]),
    .executableTarget(
      name: "reachd", dependencies: [kit, "ReachAgent", "ReachConfig", "ReachPluginHost", "ReachState"]),
  ]
    + plugin("LinkProbe") + plugin("RouteProbe") + plugin("DNSProbe", ["CCares"]) + plugin("TCPProbe")
    + [
      .target(name: "CReachTestSupport", path: "Tests/CReachTestSupport"),
      .target(name: "ReachTestSupport", dependencies: [kit, "CReachTestSupport"], path: "Tests/ReachTestSupport"),
      .testTarget(name: "ReachCoreTests", dependencies: [kit]),
      .testTarget(name: "ReachIOTests", dependencies: [kit, support]),
      .testTarget(name: "ReachNetlinkTests", dependencies: [kit, support]),
      .testTarget(
        name: "ReachConfigTests", dependencies: [kit, support, "ReachConfig"], exclude: ["Bad", "Good"]),
      .testTarget(name: "ReachPluginHostTests", dependencies: [kit, support, "ReachPluginHost"]),
      .testTarget(name: "ReachSchedulerTests", dependencies: [kit, support, "ReachScheduler"]),
      .testTarget(
        name: "ReachAggregatorTests", dependencies: [kit, "ReachAggregator"], exclude: ["vectors.tsv"]),
      .testTarget(name: "ReachMetricsTests", dependencies: [kit, support, "ReachMetrics"]),
      .testTarget(name: "ReachLogTests", dependencies: [kit, support, "ReachLog"]),
      .testTarget(name: "ReachStateTests", dependencies: [kit, support, "ReachState"]),
      .testTarget(name: "ReachHTTPTests", dependencies: [kit, support, "ReachHTTP"]),
      .testTarget(
        name: "ReachDiscoveryTests", dependencies: [kit, support, "ReachConfig", "ReachDiscovery", "ReachHTTP"]),
      .testTarget(
        name: "ReachBlackboxTests", dependencies: [kit, support, "ReachBlackbox", "ReachConfig"],
        exclude: ["answers.txt"]),
      .testTarget(name: "CommandLineTests", dependencies: [kit, support, "reachd", "ReachState"]),
      .testTarget(name: "ReachAgentTests", dependencies: [kit, support, "ReachAgent", "ReachBlackbox"]),
      .testTarget(name: "LinkProbeTests", dependencies: [kit, support, "LinkProbe"]),
      .testTarget(name: "RouteProbeTests", dependencies: [kit, support, "RouteProbe"]),
      .testTarget(name: "DNSProbeTests", dependencies: [kit, support, "DNSProbe"]),
      .testTarget(name: "TCPProbeTests", dependencies: [kit, support, "TCPProbe"]),
      .testTarget(
        name: "SimulationTests",
        dependencies: [
          kit, "ReachScheduler", "ReachAggregator", "ReachMetrics", "LinkProbe", "DNSProbe",
        ]),
      .target(name: "EndToEndTools", dependencies: [kit, support], path: "Tests/EndToEndTools"),
      .testTarget(name: "EndToEndTests", dependencies: [kit, support, "EndToEndTools"]),
      .testTarget(
        name: "DeployTests", dependencies: [kit, support, "EndToEndTools"],
        exclude: [
          "Container/bundle.py",
          "Documentation/commands.tsv", "Documentation/mistakes.yaml", "Kubernetes/operator.schema.json",
          "Kubernetes/validate.py", "shipped.tsv",
        ]),
    ],
  swiftLanguageModes: [.v6]
)

// Without the tests' sources, as deploy/container has it, there are no tests to build.
if Context.environment["REACHD_WITHOUT_TESTS"] != nil {
  package.targets.removeAll { $0.type == .test || ($0.path ?? "").hasPrefix("Tests/") }
  package.products.removeAll { $0.name == "ReachTestSupport" }
}

let settings: [SwiftSetting] = [
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableUpcomingFeature("ImmutableWeakCaptures"),
]
// The regular expression engine is no part of what is shipped: a megabyte of memory for searches that a loop does.
let withoutRegularExpressions: [SwiftSetting] = [
  .unsafeFlags(["-Xfrontend", "-disable-implicit-string-processing-module-import"])
]
for target in package.targets where target.type != .system && !target.name.hasPrefix("C") {
  let isShipped = target.type != .test && !["ReachTestSupport", "EndToEndTools"].contains(target.name)
  target.swiftSettings = settings + (isShipped ? withoutRegularExpressions : [])
  // Tens of thousands of simulations: what stands around the code under test need not be slow.
  if target.name == "SimulationTests" { target.swiftSettings?.append(.unsafeFlags(["-O"])) }
}
