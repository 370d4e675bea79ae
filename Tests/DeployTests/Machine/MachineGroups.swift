import Glibc
import ReachTestSupport

/// The control groups (cgroups(7)) of one machine, below those of this process: without groups of their own two machines
/// would put their services into the same ones. They go with this value, whose machine must have ended or be ending.
final class MachineGroups: Sendable {
  /// What they are called.
  let name = "reachd-test.\(getpid()).\(UInt64.random(in: .min ... .max))"

  /// The beginning of a script whose `$0` is the name: it makes the groups and enters them.
  var entering: String { Self.each("mkdir \"$folder/$0\"\n  echo 0 >\"$folder/$0/cgroup.procs\"") }

  deinit {
    // The kernel takes a moment to end a whole process namespace.
    let script = Self.each("find \"$folder/$0\" -depth -type d -exec rmdir {} + 2>&1")
    for _ in 0..<100 {
      guard let removed = try? runProgram(["bash", "-uc", script, name]), removed.output.contains("busy") else {
        return
      }
      usleep(20_000)
    }
  }

  /// Does something in the folder of this process's group, in each hierarchy that systemd uses: the unified one, and,
  /// where there is the older kind, the one with its name.
  private static func each(_ commands: String) -> String {
    """
    while IFS=: read -r _ controllers path; do
      case "$controllers" in
        name=systemd) folder=/sys/fs/cgroup/systemd$path ;;
        '') folder=/sys/fs/cgroup/unified$path; [ -d /sys/fs/cgroup/unified ] || folder=/sys/fs/cgroup$path ;;
        *) continue ;;
      esac
      \(commands)
    done </proc/self/cgroup

    """
  }
}
