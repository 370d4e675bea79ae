internal import Glibc

/// What `.ci/install-python` has put below `.build/python`: an interpreter with the packages that tests run, and source
/// distributions whose test data they read.
///
/// Put `.enabled(if: PythonPackages.areAvailable, "\(PythonPackages.requirement)")` on a test or suite that needs them.
public enum PythonPackages {
  private static let home = Repository.root + "/.build/python"

  /// Whether they are there. Always true where REACHD_REQUIRE_ALL_TESTS is set, so that such a test fails there rather
  /// than being skipped.
  public static let areAvailable = TestRequirements.areAllRequired || areInstalled

  /// Why a test is skipped where `areAvailable` is false.
  public static let requirement = "needs the Python packages that .ci/install-python installs"

  /// Written when all has been installed.
  private static var areInstalled: Bool { unsafe access(home + "/installed.txt", R_OK) == 0 }

  /// The interpreter that has the packages. Throws `ProgramFailure` where they are not installed.
  public static func interpreter() throws -> String {
    guard areInstalled else { throw ProgramFailure(description: requirement) }
    return home + "/bin/python3"
  }

  /// The folder of an unpacked source distribution, named as in `.ci/python/sources.txt`. Throws `ProgramFailure` where
  /// there is none.
  public static func source(_ name: String) throws -> String {
    let folder = "\(home)/sources/\(name)"
    guard areInstalled, unsafe access(folder, R_OK | X_OK) == 0 else {
      throw ProgramFailure(description: "\(name): \(requirement)")
    }
    return folder
  }

  /// Runs a Python program to its end on the calling thread; `input` is what it reads. Throws `ProgramFailure` where the
  /// packages are not installed.
  public static func run(_ program: String, input: String = "") throws -> ProgramResult {
    try runProgram([try interpreter(), "-c", program], input: input)
  }
}
