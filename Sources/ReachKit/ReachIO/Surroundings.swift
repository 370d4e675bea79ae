internal import Glibc

/// Who runs this process: where a right that it lacks would be given to it. Decided here and nowhere else.
public enum Surroundings: Hashable, Sendable, CaseIterable {
  /// systemd, as a unit.
  case systemd
  /// Kubernetes, as a container of a pod.
  case kubernetes
  /// Another runtime of containers.
  case container
  /// A person, or nobody who would leave a sign.
  case plain

  /// Those of this process, looked at once. Look before the environment is changed.
  public static let current = Surroundings(
    environment: { name in unsafe getenv(name).map { unsafe String(cString: $0) } },
    processID: getpid(), exists: { unsafe access($0, F_OK) == 0 })

  /// What the signs say.
  ///
  /// A pod has the address of its cluster's API (KUBERNETES_SERVICE_HOST); a container the file of its engine, or
  /// `container` in its environment. A unit's first process is named by SYSTEMD_EXEC_PID (systemd.exec(5), from 248 on); a shell
  /// that a unit started inherits INVOCATION_ID and is none itself, so that this counts for older systemd alone.
  init(environment: (String) -> String?, processID: Int32, exists: (String) -> Bool) {
    let isNotified = environment("NOTIFY_SOCKET") != nil
    let isUnit = environment("SYSTEMD_EXEC_PID").map { Int32($0) == processID } ?? (environment("INVOCATION_ID") != nil)
    let isContainer = environment("container") != nil || exists("/.dockerenv") || exists("/run/.containerenv")
    if environment("KUBERNETES_SERVICE_HOST") != nil {
      self = .kubernetes
    } else if isNotified || isUnit {
      self = .systemd
    } else {
      self = isContainer ? .container : .plain
    }
  }
}

/// What this process needs from whoever runs it, and does not have.
public enum Need: Hashable, Sendable {
  /// Sockets of these address families, such as `AF_NETLINK`.
  case families([String])
  /// A capability (capabilities(7)), such as `CAP_NET_ADMIN`; void where this process has it and it counts for nothing, as in
  /// a user namespace of its own.
  case capability(String, isVoid: Bool)
  /// More descriptors.
  case descriptors
  /// More threads.
  case threads
  /// A system call.
  case call(String)
  /// To send packets to its targets.
  case sending
  /// More interfaces than the loopback one.
  case network
  /// Name servers.
  case nameServers
  /// To have the machine run what is in a file.
  case executing(String)
  /// To read a file or a folder.
  case reading(String)
  /// To write to a folder and to what is in it.
  case writing(String)
}
