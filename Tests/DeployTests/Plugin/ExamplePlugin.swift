import Glibc
import ReachTestSupport

@testable import EndToEndTools

/// The example of a backend that is kept elsewhere, as `.ci/example-plugin` has built it from a copy of its own.
enum ExamplePlugin {
  /// The copy.
  static let package = Reachd.sources + "/.build/example/GreetingProbe"

  /// Where a build of it is.
  static func folder(_ configuration: String) -> String { package + "/.build/" + configuration }

  /// Whether it has been built; always true where all tests are required.
  static let isAvailable =
    TestRequirements.areAllRequired
    || ["debug", "release"].allSatisfy { unsafe access(folder($0) + "/libGreetingProbe.so", R_OK) == 0 }

  /// Why a test is skipped where it has not.
  static let requirement = "needs the example plugin: run .ci/example-plugin --build-system native"
}
