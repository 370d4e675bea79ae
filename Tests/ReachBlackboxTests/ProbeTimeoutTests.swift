import ReachBlackbox
import Testing

@Suite struct ProbeTimeoutTests {
  @Test(
    "a probe has the module's time, or half a second less than the client waits",
    arguments: [
      (nil, nil, 119.5), ("", nil, 119.5), ("0", nil, 119.5), ("10", nil, 9.5), ("10", 5, 5), ("10", 60, 9.5),
      ("0.3", nil, 0.3), ("0.5", 2, 0.5), ("0.6", 2, 0.1), ("1e300", nil, 599.5), ("0.3", 0.1, 0.1),
      ("1e-300", nil, 1e-9), (nil, 200, 119.5),
    ] as [(String?, Double?, Double)])
  func duration(header: String?, module: Double?, expected: Double) throws {
    let duration = try ProbeTimeout.duration(header: header, module: module.map { .seconds($0) })
    #expect(duration > .zero)
    #expect(abs(duration / .seconds(1) - expected) < 1e-6)
  }

  @Test(
    "a header that is no number of seconds is refused",
    arguments: ["x", "NaN", "inf", "-inf", "-1", "1s", " ", "1e999"])
  func refused(header: String) {
    #expect(throws: ProbeTimeout.BadHeader.self) { try ProbeTimeout.duration(header: header, module: nil) }
  }
}
