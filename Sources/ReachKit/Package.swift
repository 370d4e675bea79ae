// swift-tools-version: 6.3
import PackageDescription

// A package of its own with one dynamic product, so that the agent and every plugin share one copy of these modules.
// Linked as plain targets, each side would carry its own copy: casts would fail, errors would not be caught.
let package = Package(
  name: "ReachKit",
  products: [
    .library(
      name: "ReachKit", type: .dynamic,
      targets: ["CReachLinux", "CReachPlugin", "ReachCore", "ReachIO", "ReachNetlink", "ReachProbe"])
  ],
  targets: [
    .target(name: "CReachLinux", path: "CReachLinux"),
    .target(name: "CReachPlugin", path: "CReachPlugin"),
    .target(name: "ReachCore", path: "ReachCore"),
    .target(name: "ReachIO", dependencies: ["CReachLinux", "ReachCore"], path: "ReachIO"),
    .target(name: "ReachNetlink", dependencies: ["CReachLinux", "ReachCore", "ReachIO"], path: "ReachNetlink"),
    .target(
      name: "ReachProbe", dependencies: ["CReachLinux", "ReachCore", "ReachIO", "ReachNetlink"], path: "ReachProbe"),
  ],
  swiftLanguageModes: [.v6]
)

let settings: [SwiftSetting] = [
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableUpcomingFeature("ImmutableWeakCaptures"),
  // The regular expression engine is a megabyte of memory that nothing here needs.
  .unsafeFlags(["-Xfrontend", "-disable-implicit-string-processing-module-import"]),
]
for target in package.targets where !target.name.hasPrefix("C") { target.swiftSettings = settings }
