internal import CReachTestSupport
internal import Glibc

/// Whether tests can have network namespaces of their own here.
///
/// Put `.enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)")` on a test or suite that stages one.
public enum NamespaceSupport {
  /// Whether this process may make network namespaces and joined pairs of interfaces: it needs CAP_SYS_ADMIN and
  /// CAP_NET_ADMIN, iproute2 and veth(4).
  ///
  /// Always true where REACHD_REQUIRE_ALL_TESTS is set, so that such a test fails there rather than being skipped.
  public static let isAvailable = TestRequirements.areAllRequired || canStage()

  /// Why a test is skipped where `isAvailable` is false.
  public static let requirement = "needs CAP_SYS_ADMIN, CAP_NET_ADMIN, iproute2 and veth"

  private static func canStage() -> Bool {
    let answer = onOwnThread {
      guard CReachTestSupport_unshare_network() == 0 else { return false }
      let made = try? runProgram(["ip", "link", "add", "veth0", "type", "veth", "peer", "name", "veth1"])
      return made?.isSuccess ?? false
    }
    return answer ?? false
  }
}

/// What the environment demands of a test run.
public enum TestRequirements {
  /// Whether REACHD_REQUIRE_ALL_TESTS is set to anything but nothing or `0`: then a test that cannot run must fail.
  public static let areAllRequired: Bool = {
    guard let value = unsafe getenv("REACHD_REQUIRE_ALL_TESTS") else { return false }
    let text = unsafe String(cString: value)
    return !text.isEmpty && text != "0"
  }()
}
