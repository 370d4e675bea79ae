import Glibc
import ReachCore
import Testing

@testable import ReachIO

@Suite struct SurroundingsTests {
  private func surroundings(_ environment: [String: String], files: Set<String> = []) -> Surroundings {
    Surroundings(environment: { environment[$0] }, processID: 7, exists: { files.contains($0) })
  }

  @Test("who runs the process is told by the signs that each of them leaves")
  func signs() {
    #expect(surroundings([:]) == .plain)
    #expect(surroundings(["NOTIFY_SOCKET": "/run/systemd/notify"]) == .systemd)
    #expect(surroundings(["INVOCATION_ID": "a", "SYSTEMD_EXEC_PID": "7"]) == .systemd)
    #expect(surroundings(["INVOCATION_ID": "a"]) == .systemd)
    // A shell that a unit has started, and what is started there.
    #expect(surroundings(["INVOCATION_ID": "a", "SYSTEMD_EXEC_PID": "6"]) == .plain)
    #expect(surroundings(["SYSTEMD_EXEC_PID": "nonsense"]) == .plain)
    #expect(surroundings([:], files: ["/.dockerenv"]) == .container)
    #expect(surroundings([:], files: ["/run/.containerenv"]) == .container)
    #expect(surroundings(["container": "podman"]) == .container)
    // systemd in a container is what can be set there.
    #expect(surroundings(["container": "lxc", "NOTIFY_SOCKET": "/run/systemd/notify"]) == .systemd)
    #expect(surroundings(["KUBERNETES_SERVICE_HOST": "10.0.0.1"], files: ["/.dockerenv"]) == .kubernetes)
  }

  private static let needs: [(Need, unit: String, pod: String, container: String)] = [
    (.families(["AF_NETLINK"]), "AF_NETLINK to RestrictAddressFamilies=", "seccompProfile", "--security-opt seccomp="),
    (.capability("CAP_NET_RAW", isVoid: false), "CapabilityBoundingSet=", "add NET_RAW", "--cap-add NET_RAW"),
    (.capability("CAP_NET_RAW", isVoid: true), "PrivateUsers=no", "hostUsers: true", "--userns=host"),
    (.descriptors, "LimitNOFILE=65536", "open files", "--ulimit nofile=65536"),
    (.threads, "TasksMax=", "podPidsLimit", "--pids-limit"),
    (.call("bpf"), "SystemCallFilter=", "seccompProfile", "--security-opt seccomp="),
    (.sending, "IPAddressDeny=", "NetworkPolicy", "firewall"),
    (.network, "PrivateNetwork=no", "hostNetwork: true", "--network host"),
    (.nameServers, "nameserver", "dnsPolicy", "--dns"),
    (.executing("/p"), "NoExecPaths=", "/p", "/p"),
    (.reading("/k"), "User= of reachd's unit read /k", "fsGroup", "/k"),
    (.writing("/var/lib/reachd"), "StateDirectory=reachd ", "mount a volume at /var/lib/reachd", "mount a volume"),
    (.writing("/var/log/a/b"), "LogsDirectory=a/b ", "/var/log/a/b", "/var/log/a/b"),
    (.writing("/run/reachd"), "RuntimeDirectory=reachd ", "/run/reachd", "/run/reachd"),
    (.writing("/srv/x"), "ReadWritePaths=/srv/x ", "/srv/x", "/srv/x"),
    (.writing("/var/lib/"), "ReadWritePaths=/var/lib/ ", "/var/lib/", "/var/lib/"),
  ]

  @Test("the remedy names the setting of whoever runs the process", arguments: 0..<needs.count)
  func remedies(index: Int) {
    let need = Self.needs[index]
    #expect(Surroundings.systemd.remedy(for: need.0).contains(need.unit))
    #expect(Surroundings.kubernetes.remedy(for: need.0).contains(need.pod))
    #expect(Surroundings.container.remedy(for: need.0).contains(need.container))
    for surroundings in Surroundings.allCases {
      let text = surroundings.remedy(for: need.0)
      #expect(!text.isEmpty && !text.hasSuffix(".") && !text.contains("\n"))
      #expect(text.contains("unit") == (surroundings == .systemd), "\(text)")
    }
  }

  @Test("a capability that is there and counts for nothing is told from one that is missing")
  func capabilities() throws {
    let mark = SystemError("setsockopt(SO_MARK)", FaultCode(errno: EPERM))
    let missing = try #require(mark.permissionFault(for: "", in: .systemd) { _ in false })
    #expect(
      missing.remedy == "add CAP_NET_RAW to AmbientCapabilities= and to CapabilityBoundingSet= in reachd's unit")
    for either in ["CAP_NET_RAW", "CAP_NET_ADMIN"] {
      let void = try #require(mark.permissionFault(for: "", in: .systemd) { $0 == either })
      #expect(void.remedy.hasPrefix("set PrivateUsers=no"))
    }
    let device = SystemError("setsockopt(SO_BINDTODEVICE)", FaultCode(errno: EPERM))
    #expect(
      device.permissionFault(for: "", in: .container) { _ in false }?.remedy.contains("--cap-add NET_RAW") == true)
    let send = SystemError("send", FaultCode(errno: EPERM))
    #expect(
      send.permissionFault(for: "192.0.2.53", in: .systemd) { _ in true }?.remedy.contains("IPAddressDeny=") == true)
    #expect(SystemError("send", FaultCode(errno: EACCES)).permissionFault() == nil)
  }

  @Test("capabilities are read from what the kernel says of the process")
  func effective() {
    let capabilities = Capabilities(status: "Name:\tx\nCapPrm:\t0000000000003000\nCapEff:\t0000000000001000\n")
    #expect(capabilities.contains("CAP_NET_ADMIN") && !capabilities.contains("CAP_NET_RAW"))
    for text in ["", "CapEff:", "CapEff:\tzz\n", "CapEff:\t11112222333344445\n"] {
      #expect(!Capabilities(status: text).contains("CAP_NET_ADMIN"))
    }
    #expect(!capabilities.contains("CAP_OF_NO_KIND"))
  }
}
