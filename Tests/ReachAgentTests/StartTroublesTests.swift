import Glibc
import ReachCore
import ReachIO
import ReachNetlink
import Testing

@testable import ReachAgent

@Suite struct StartTroublesTests {
  private typealias Trouble = SelfChecks.Trouble

  @Test("that AF_NETLINK is refused names the setting of whoever refuses it")
  func netlink() {
    let error = SystemError("socket", FaultCode(errno: EAFNOSUPPORT))
    let trouble = Trouble(netlinkRefusedBy: error, in: .systemd)
    #expect(trouble.check == "netlink" && trouble.problem.contains("socket: EAFNOSUPPORT"))
    #expect(trouble.remedy == "add AF_NETLINK to RestrictAddressFamilies= in reachd's unit")
    #expect(Trouble(netlinkRefusedBy: error, in: .kubernetes).remedy.contains("seccompProfile"))
  }

  @Test("a service manager that cannot be told is named with the family that is missing, if it is that")
  func manager() {
    let family = Trouble(managerNotTold: SystemError("socket", FaultCode(errno: EAFNOSUPPORT)), in: .systemd)
    #expect(family.check == "service_manager" && family.remedy.contains("AF_UNIX"))
    let other = Trouble(managerNotTold: SystemError("sendto", FaultCode(errno: ECONNREFUSED)), in: .systemd)
    #expect(other.problem.contains("ECONNREFUSED") && !other.remedy.contains("AF_UNIX"))
  }

  @Test("a host with the loopback interface alone is said where a target lies beyond, and nowhere else")
  func network() throws {
    let beyond = [Target(name: "far", kind: .address(IPAddress(ipv4: 0xc000_0201)))]
    let here = [
      Target(name: "near", kind: .address(IPAddress(ipv4: 0x7f00_0001))), Target(name: "lo", kind: .interface("lo")),
    ]
    let trouble = try #require(Trouble(seeing: [], for: beyond, in: .systemd))
    #expect(trouble.check == "network" && trouble.remedy.contains("PrivateNetwork=no"))
    #expect(Trouble(seeing: [], for: here, in: .systemd) == nil)
    #expect(Trouble(seeing: [], for: [], in: .systemd) == nil)
  }

  @Test("a fault without words of its own is told with the setting at fault")
  func faults() throws {
    func remedy(_ code: Int32) throws -> String {
      try #require(Trouble(LocalFault(errno: code), in: .systemd)).remedy
    }
    #expect(try remedy(EAFNOSUPPORT).contains("AF_INET and AF_INET6 to RestrictAddressFamilies="))
    #expect(try remedy(ENOSYS).contains("SystemCallFilter="))
    #expect(try remedy(EMFILE) == "set LimitNOFILE=65536 in reachd's unit")
    #expect(try #require(Trouble(LocalFault(.resolverConfig), in: .kubernetes)).remedy.contains("dnsPolicy"))
  }
}
