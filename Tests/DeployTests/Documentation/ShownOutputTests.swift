import Testing

/// What counts as the output that a page shows.
@Suite struct ShownOutputTests {
  private func fits(_ shown: String, _ printed: String) -> Bool {
    ShownOutput(shown.split(separator: "\n").map(String.init)).fits(printed)
  }

  @Test("columns may be aligned in any way, and every word counts")
  func words() {
    #expect(fits("a  b\nc", "a b\n  c\n"))
    #expect(!fits("a b", "a b c"))
    #expect(!fits("a b c", "a b"))
    #expect(!fits("192.0.2.1", "192.0.2.2"))
    #expect(!fits("3 targets", "4 targets"))
  }

  @Test("times, durations and versions stand for their kind, and nothing else does")
  func kinds() {
    #expect(fits("ok dns 1.09 ms TTL 5m,", "ok dns 20 µs TTL 4m59s,"))
    #expect(fits("2026-11-30T09:16:37.402Z db 3h12m", "2027-01-01T00:00:00Z db 4.0s"))
    #expect(fits("2026-11-30 09:16:34Z", "2026-12-01 10:00:00Z"))
    #expect(fits("reachd 0.1.0", "reachd 1.2.3"))
    #expect(!fits("reachd 0.1.0", "reachd none"))
    #expect(!fits("took 5 ms", "took 5 apples"))
    #expect(!fits("192.0.2.1", "192.0.2.9"))
    #expect(!fits("2001:db8::5", "2001:db8::6"))
  }

  @Test("three dots stand for any words, or for any letters within a word")
  func dots() {
    #expect(fits("a\n…\nz", "a\nb c\nz"))
    #expect(fits("a\n…", "a"))
    #expect(fits("file=…/libTCPProbe.so", "file=/usr/lib/libTCPProbe.so"))
    #expect(!fits("file=…/libTCPProbe.so", "file=/usr/lib/libDNSProbe.so"))
    #expect(!fits("a … z", "a b"))
  }
}
