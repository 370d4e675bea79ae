import Testing

@testable import ReachIO

@Suite struct StartupMemoryTests {
  @Test("only text that comes from a file is given back: nothing that was ever written, and nothing anonymous")
  func ranges() {
    let maps = """
      55d0c8a00000-55d0c8a01000 r--p 00000000 fe:00 123                        /usr/bin/reachd
      55d0c8a01000-55d0c8a05000 r-xp 00001000 fe:00 123                        /usr/bin/reachd
      55d0c8a05000-55d0c8a06000 rw-p 00005000 fe:00 123                        /usr/bin/reachd
      55d0c9000000-55d0c9021000 rw-p 00000000 00:00 0                          [heap]
      7f0000000000-7f0000001000 rwxp 00000000 fe:00 124                        /usr/lib/odd.so
      7f0000002000-7f0000003000 r-xs 00000000 fe:00 125                        /usr/lib/shared
      7ffd00000000-7ffd00001000 r-xp 00000000 00:00 0                          [vdso]
      7f0000004000-7f0000008000 r-xp 00000000 fe:00 126                        /a path with blanks (deleted)
      zzzz-7f00 r-xp 0 0 0 /x
      7f00-6f00 r-xp 0 0 0 /x
      r-xp
      """
    #expect(
      StartupMemory.textRanges(in: Array(maps.utf8)) == [
        0x55d0_c8a0_1000..<0x55d0_c8a0_5000, 0x7f00_0000_4000..<0x7f00_0000_8000,
      ])
  }

  @Test("the program goes on as before")
  func goesOn() {
    StartupMemory.release()
    #expect([3, 1, 2].sorted().map(String.init).joined(separator: ",") == "1,2,3")
  }
}
