import Glibc
import ReachIO
import ReachTestSupport

/// NSD, an authoritative name server of Debian's (nsd(8)), on port 53 of a staged namespace.
final class NameServer: Sendable {
  /// Whether it is installed; always true where all tests are required.
  static let isAvailable = TestRequirements.areAllRequired || (unsafe access("/usr/sbin/nsd", X_OK)) == 0

  private let process: ChildProcess
  private let folder: TestFolder

  /// Starts it in the namespace, to answer for `origin` from this zone, and with SERVFAIL for `broken.test`; over TLS
  /// too, on port 853, with the files `crt` and `key` of a folder, where there is one.
  init(
    zone: String, of origin: String = "reachd.test", at addresses: String...,
    certifiedBy certificates: TestFolder? = nil, in namespace: NetworkNamespace,
    on loop: EventLoop
  ) throws {
    folder = try TestFolder()
    try folder.write(zone, to: "zone")
    let path = folder.path
    var listening = addresses.map { "ip-address: \($0)" }
    if let certificates {
      listening += addresses.map { "ip-address: \($0)@853" }
      listening += ["tls-port: 853", "tls-service-key: \"\(certificates.path)/key\""]
      listening.append("tls-service-pem: \"\(certificates.path)/crt\"")
    }
    let file = try folder.write(
      """
      server:
        server-count: 1
        \(listening.joined(separator: "\n  "))
        username: ""
        chroot: ""
        zonesdir: "\(path)"
        pidfile: ""
        logfile: "\(path)/log"
        xfrdfile: "\(path)/xfrd"
        zonelistfile: "\(path)/zonelist"
        database: ""
        rrl-ratelimit: 0
      remote-control:
        control-enable: no
      zone:
        name: "\(origin)"
        zonefile: zone
      zone:
        name: broken.test
        zonefile: none

      """, to: "nsd.conf")
    process = try namespace.perform {
      try ChildProcess(["/usr/sbin/nsd", "-d", "-c", file], endSignal: SIGTERM, on: loop)
    }
  }
}
