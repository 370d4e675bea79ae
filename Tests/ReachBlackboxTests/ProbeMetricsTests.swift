import ReachBlackbox
import ReachCore
import Testing

@Suite struct ProbeMetricsTests {
  @Test("families come in the order of their names, with their help and type once")
  func text() {
    var metrics = ProbeMetrics()
    let phases = ProbeFamily("b", help: "two\nlines \\ \"x\"")
    metrics.set(phases, 0.25, [Label(name: "phase", value: "z")])
    metrics.set(phases, 3, [Label(name: "phase", value: "a\"\\\n")])
    metrics.set(ProbeFamily("a", help: "h"), 1)
    metrics.set(ProbeFamily("a", help: "h"), 2_166_136_261)
    #expect(
      metrics.text == """
        # HELP a h
        # TYPE a gauge
        a 2166136261
        # HELP b two\\nlines \\\\ "x"
        # TYPE b gauge
        b{phase="a\\"\\\\\\n"} 3
        b{phase="z"} 0.25

        """)
    #expect(metrics.names == ["a", "b"])
  }

  @Test("labels come in the order of their names, and numbers that are none have names")
  func numbers() {
    var metrics = ProbeMetrics()
    let family = ProbeFamily("x", help: "h")
    metrics.set(family, .infinity, [Label(name: "b", value: "2"), Label(name: "a", value: "1")])
    metrics.set(family, .nan, [Label(name: "a", value: "2")])
    metrics.set(family, 1e-7, [Label(name: "a", value: "3")])
    #expect(metrics.text.hasSuffix("x{a=\"1\",b=\"2\"} +Inf\nx{a=\"2\"} NaN\nx{a=\"3\"} 1e-07\n"))
  }
}
