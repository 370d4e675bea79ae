// swift-tools-version: 6.3
import PackageDescription

// A backend of reachd that lives outside of reachd's source tree. It can be copied anywhere: REACHD_SOURCES then says
// where a checkout of reachd is, with the version of the agent that is to load the backend.
let reachd = Context.environment["REACHD_SOURCES"] ?? "../.."

let package = Package(
  name: "GreetingProbe",
  // A dynamic library of this name is what the agent looks for: lib<Name>Probe.so.
  products: [.library(name: "GreetingProbe", type: .dynamic, targets: ["GreetingProbe", "GreetingProbeEntryPoint"])],
  dependencies: [
    // All that a backend may link.
    .package(path: reachd + "/Sources/ReachKit"),
    // For the tests alone: staged networks, and the conformance suite.
    .package(name: "reachd", path: reachd),
  ],
  targets: [
    .target(name: "GreetingProbe", dependencies: [.product(name: "ReachKit", package: "ReachKit")]),
    // A target of its own, so that the tests can link the probe without the entry point.
    .target(
      name: "GreetingProbeEntryPoint",
      dependencies: [.product(name: "ReachKit", package: "ReachKit"), "GreetingProbe"]),
    .testTarget(
      name: "GreetingProbeTests",
      dependencies: [
        .product(name: "ReachKit", package: "ReachKit"), .product(name: "ReachTestSupport", package: "reachd"),
        "GreetingProbe",
      ]),
  ],
  swiftLanguageModes: [.v6]
)

for target in package.targets {
  target.swiftSettings = [
    .strictMemorySafety(),
    // Async functions stay on the task that calls them, and so on the event loop. Without this each call of one would
    // leave the loop.
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
  ]
  // An installed agent has no library for regular expressions beside it: a backend must not ask for one.
  if target.type != .test {
    target.swiftSettings?.append(
      .unsafeFlags(["-Xfrontend", "-disable-implicit-string-processing-module-import"]))
  }
}
