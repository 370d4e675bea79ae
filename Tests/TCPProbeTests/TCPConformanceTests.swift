import ReachCore
import ReachIO
import ReachProbe
import ReachTestSupport
import Testing

@testable import TCPProbe

@Suite(.enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"), .timeLimit(.minutes(4)))
struct TCPConformanceTests {
  @Test("the tcp probe stands what every backend must stand")
  func conforms() async throws {
    let violations = try await conformanceViolations(of: TCPProbe.registration) { _, _ in
      let open = try TestPort(.open)
      let closed = try TestPort(.closed)
      let full = try TestPort(.full)
      func target(_ port: UInt16) -> Target { Target(name: "target", kind: .address(.loopback), port: port) }
      return [
        ConformanceCase(
          "open", target: target(open.number), candidates: [Candidate(.loopback, route: .leaving)], holding: [open]),
        ConformanceCase("open at once", target: target(open.number), candidates: [Candidate(.loopback, route: .own)]),
        ConformanceCase(
          "closed", target: target(closed.number), candidates: [Candidate(.loopback)], holding: [closed]),
        ConformanceCase(
          "silent", target: target(full.number),
          candidates: [Candidate(.loopback, route: .leaving), Candidate("127.0.0.2")], holding: [full]),
        ConformanceCase("no candidates", target: target(1), candidates: []),
        ConformanceCase(
          "options", target: target(1), candidates: [Candidate(.loopback)],
          options: OptionValues(["port": .integer(Int(open.number)), "close": .string("fin")])),
      ]
    }
    #expect(violations == [])
  }

  @Test("a port that is none is refused by name")
  func badPort() async throws {
    let error = try await withEventLoop { loop -> OptionError? in
      let host = try ProbeHost.onThisLoop(loop)
      do throws(OptionError) {
        _ = try TCPProbe.registration.make(OptionValues(["port": .integer(0)]), host)
        return nil
      } catch {
        return error
      }
    }
    #expect(error?.option == "port")
  }
}
