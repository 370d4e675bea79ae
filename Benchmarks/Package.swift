// swift-tools-version: 6.3
import PackageDescription

// A package of its own, so that nobody who builds or tests the agent builds the benchmarks too. Run it with `make bench`.
let package = Package(
  name: "ReachBenchmarks",
  dependencies: [.package(name: "reachd", path: ".."), .package(path: "../Sources/ReachKit")],
  targets: [
    .target(name: "CReachBenchmarks"),
    .executableTarget(
      name: "ReachBenchmarks",
      dependencies: [
        "CReachBenchmarks", .product(name: "ReachKit", package: "ReachKit"),
        .product(name: "TCPProbe", package: "reachd"), .product(name: "ReachMetrics", package: "reachd"),
      ],
      swiftSettings: [
        .strictMemorySafety(),
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("InferIsolatedConformances"),
        .enableUpcomingFeature("ImmutableWeakCaptures"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
