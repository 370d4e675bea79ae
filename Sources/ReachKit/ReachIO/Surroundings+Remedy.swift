extension Surroundings {
  /// How many descriptors are recommended: enough for ten thousand targets.
  private static let descriptors = 65_536

  /// What to do where this process runs, with the setting that is at fault: for people, without a full stop.
  public func remedy(for need: Need) -> String {
    switch self {
    case .systemd: Self.ofUnit(need)
    case .kubernetes: Self.ofPod(need)
    case .container: Self.ofContainer(need)
    case .plain: Self.ofProcess(need)
    }
  }

  /// systemd.exec(5), systemd.resource-control(5).
  private static func ofUnit(_ need: Need) -> String {
    switch need {
    case .families(let names):
      "add \(names.joined(separator: " and ")) to RestrictAddressFamilies= in reachd's unit"
    case .capability(let name, isVoid: false):
      "add \(name) to AmbientCapabilities= and to CapabilityBoundingSet= in reachd's unit"
    case .capability(let name, isVoid: true):
      "set PrivateUsers=no in reachd's unit: in a user namespace \(name) counts for nothing"
    case .descriptors: "set LimitNOFILE=\(descriptors) in reachd's unit"
    case .threads: "raise TasksMax= and LimitNPROC= in reachd's unit"
    case .call(let name): "let SystemCallFilter= in reachd's unit have \(name)"
    case .sending:
      "see IPAddressDeny= and IPAddressAllow= in reachd's unit, and the rules of nftables for what this host sends"
    case .network: "set PrivateNetwork=no in reachd's unit"
    case .nameServers: nameServers + "; InaccessiblePaths= and TemporaryFileSystem= in reachd's unit can hide it"
    case .executing(let path):
      "leave \(path) out of NoExecPaths= in reachd's unit, or add it to ExecPaths=; its file system must not be mounted noexec"
    case .reading(let path):
      "let the User= of reachd's unit read \(path) and search its folders; ProtectHome= and InaccessiblePaths= can hide it"
    case .writing(let path):
      "set \(folderSetting(for: path)) in reachd's unit, since ProtectSystem= leaves little else to write to; User= must own it"
    }
  }

  private static func ofPod(_ need: Need) -> String {
    switch need {
    case .families(let names):
      "let securityContext.seccompProfile of the pod allow socket with \(names.joined(separator: " and "))"
    case .capability(let name, isVoid: false):
      "add \(short(name)) to securityContext.capabilities.add of the container, and set runAsUser: 0: for others it counts for nothing"
    case .capability(let name, isVoid: true):
      "set hostUsers: true in the pod: in a user namespace \(name) counts for nothing"
    case .descriptors: "raise the limit of open files of the node's container runtime to \(descriptors)"
    case .threads: "raise the limit of processes of a pod on the node (podPidsLimit)"
    case .call(let name): "let securityContext.seccompProfile of the pod allow \(name)"
    case .sending: "see the NetworkPolicy of the pod, and the node's firewall"
    case .network: "set hostNetwork: true in the pod, or see why the node's network plugin gave it no interface"
    case .nameServers: "see dnsPolicy and dnsConfig of the pod: they make /etc/resolv.conf"
    case .executing(let path): "keep \(path) in the image or on a volume that is not mounted noexec"
    case .reading(let path):
      "let runAsUser, or fsGroup, of the pod read \(path): see defaultMode of the volume that it is in"
    case .writing(let path):
      "mount a volume at \(path) that may be written: readOnlyRootFilesystem leaves nothing else; runAsUser, or fsGroup, must own it"
    }
  }

  private static func ofContainer(_ need: Need) -> String {
    switch need {
    case .families(let names):
      "let the container's seccomp profile allow socket with \(names.joined(separator: " and ")) (--security-opt seccomp=FILE)"
    case .capability(let name, isVoid: false):
      "start the container with --cap-add \(short(name)) --user 0 (under systemd: AmbientCapabilities=\(name))"
    case .capability(let name, isVoid: true):
      "start the container with --userns=host: in a user namespace \(name) counts for nothing"
    case .descriptors:
      "start the container with --ulimit nofile=\(descriptors) (under systemd: LimitNOFILE=\(descriptors))"
    case .threads: "start the container with a larger --pids-limit"
    case .call(let name): "let the container's seccomp profile allow \(name) (--security-opt seccomp=FILE)"
    case .sending: "see the firewall of this host, for what the container sends"
    case .network: "start the container with a network: --network host to see that of this host"
    case .nameServers: "start the container with --dns ADDRESS, or put a 'nameserver' line into its /etc/resolv.conf"
    case .executing(let path): "keep \(path) in the image or on a volume that is not mounted noexec"
    case .reading(let path): "let the container's user read \(path)"
    case .writing(let path): "mount a volume at \(path) that may be written by the container's user"
    }
  }

  private static func ofProcess(_ need: Need) -> String {
    switch need {
    case .families(let names):
      "let reachd have sockets of \(names.joined(separator: " and ")): see what restricts it (seccomp, a security module;"
        + " RestrictAddressFamilies= under systemd)"
    case .capability(let name, isVoid: false):
      "give reachd the capability: run it as root, or by systemd with AmbientCapabilities=\(name)"
    case .capability(let name, isVoid: true):
      "run reachd outside its user namespace: in there \(name) counts for nothing"
    case .descriptors:
      "allow reachd more descriptors: ulimit -n \(descriptors), or LimitNOFILE=\(descriptors) under systemd"
    case .threads: "raise the limits of the process (ulimit -u, kernel.threads-max)"
    case .call(let name): "let reachd call \(name): see what restricts it (seccomp, a security module)"
    case .sending: "allow reachd to connect to its targets: see the rules of nftables for what this host sends"
    case .network: "run reachd in the network namespace that it is to watch"
    case .nameServers: nameServers
    case .executing(let path): "keep \(path) on a file system that is not mounted noexec"
    case .reading(let path): "let this user read \(path) and search its folders"
    case .writing(let path): "let this user write to \(path)"
    }
  }

  private static let nameServers = "put a 'nameserver' line into /etc/resolv.conf"

  /// The setting of a unit that has a folder made for it, and written to (systemd.exec(5)).
  private static func folderSetting(for path: String) -> String {
    for (parent, setting) in [
      ("/var/lib/", "StateDirectory"), ("/var/log/", "LogsDirectory"), ("/run/", "RuntimeDirectory"),
      ("/var/cache/", "CacheDirectory"),
    ] where path.hasPrefix(parent) && path.utf8.count > parent.utf8.count {
      return "\(setting)=\(path.dropFirst(parent.count))"
    }
    return "ReadWritePaths=\(path)"
  }

  /// A capability as container engines write it.
  private static func short(_ name: String) -> String {
    String(name.hasPrefix("CAP_") ? name.dropFirst(4)[...] : name[...])
  }
}
