internal import ReachAggregator
internal import ReachCore
internal import Testing

@Suite struct VectorTests {
  @Test("The vectors can be read, and none is lost")
  func vectorsAreThere() {
    #expect(Vector.rows(of: "pure").count == 90)
    #expect(Vector.rows(of: "linux").count == 63)
  }

  @Test("Flags come to the status that each rule's origin gives them", arguments: Vector.rows(of: "pure"))
  func flagsToStatus(_ vector: Vector) throws {
    let flags = try #require(ReachabilityFlags(description: vector.flags))
    #expect(vector.rule.status(of: flags).rawValue == vector.status)
    #expect(Self.hex(flags) == vector.hex)
  }

  @Test("Evidence comes to the flags, the status and the reason of its row", arguments: Vector.rows(of: "linux"))
  func evidenceToVerdict(_ vector: Vector) {
    let verdict = Judge.verdict(on: vector.findings, of: vector.declaredTarget)
    #expect(verdict.flags?.description ?? ReachabilityFlags.absentDescription == vector.flags)
    #expect(verdict.flags.map(Self.hex) ?? "-" == vector.hex)
    #expect(verdict.status.rawValue == vector.status)
    #expect(verdict.reason.description == vector.reason)
  }

  private static func hex(_ flags: ReachabilityFlags) -> String {
    let digits = String(flags.rawValue, radix: 16)
    return "0x" + String(repeating: "0", count: 8 - digits.count) + digits
  }
}
