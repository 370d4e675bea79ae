internal import CReachBuild

/// What this build is.
public enum BuildInformation {
  /// The version, as in CHANGELOG.md.
  public static let version = "0.1.0"
  /// The commit it was built from, or `unknown`.
  public static var revision: String { unsafe String(cString: CReachBuild_revision()) }
  /// The version of the Swift compiler that built it, as far as the compiler lets itself be asked.
  public static var swift: String {
    #if compiler(>=6.4)
    "6.4"
    #elseif compiler(>=6.3.1)
    "6.3.1"
    #else
    "6.3"
    #endif
  }

  /// What `reachd --version` prints.
  public static var text: String { "reachd \(version) (\(revision), Swift \(swift))" }
}
