import CReachLinux
import Glibc
import ReachCore
import ReachIO
import ReachNetlink
import ReachTestSupport
import Testing

@Suite struct NetlinkSessionTests {
  @Test("127.0.0.1 is a local address on the loopback interface", .timeLimit(.minutes(1)))
  func looksUpLoopback() async throws {
    let answer = try await withEventLoop { loop in
      try NetlinkSession(loop: loop).lookup(RouteQuery(destination: IPAddress(ipv4: 0x7f00_0001)))
    }
    guard case .route(let route) = answer else {
      Issue.record("\(answer)")
      return
    }
    #expect(route.type == UInt8(RTN_LOCAL))
    #expect(route.outputInterface == 1)
    #expect(route.prefixLength == 32)
    #expect(route.preferredSource == IPAddress(ipv4: 0x7f00_0001))
    #expect(route.legs.isEmpty)
  }
}
