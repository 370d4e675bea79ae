import ReachPluginHost
import Testing

/// Plugins written in C for the occasion, each wrong in one way.
@Suite(
  .timeLimit(.minutes(4)),
  // The wrong plugins are compiled here, with the machine's own C compiler.
  .enabled(if: hasCompiler || requiresAllTests))
struct HandshakeTests {
  private static let types = """
    #include <stdint.h>
    #include <stddef.h>
    struct handshake { uint32_t magic, size, interface, reserved; const char *compiler; };

    """

  private static func handshake(_ fields: String) -> String {
    types
      + "const struct handshake *reachd_plugin_handshake(void) { static const struct handshake h = \(fields); return &h; }\n"
  }

  private func reason(_ source: String) throws -> String {
    let scratch = try Scratch()
    try scratch.compile(source, as: "libBadProbe.so")
    let result = try #require(PluginHost.load(["bad"], searchPath: [scratch.path]).first)
    #expect(result.rejection?.file == scratch.file("libBadProbe.so"))
    return try #require(result.rejection).reason
  }

  @Test("a library without the handshake is no plugin")
  func noHandshake() throws {
    #expect(try reason("int x;") == "is no reachd plugin: it has no reachd_plugin_handshake")
  }

  @Test("a handshake that is empty, or begins with something else, is refused")
  func wrongMagic() throws {
    #expect(
      try reason(Self.types + "const struct handshake *reachd_plugin_handshake(void) { return NULL; }")
        == "its handshake is empty: rebuild the plugin")
    #expect(
      try reason(Self.handshake("{ 0xabc, 24, 1, 0, \"x\" }"))
        == "is no reachd plugin: its handshake begins with 0x00000abc")
  }

  @Test("a handshake of another size is refused before anything beyond its size is read")
  func wrongSize() throws {
    #expect(
      try reason(Self.handshake("{ 0x50686352, 8, 1, 0, (const char *)1 }"))
        == "its handshake has 8 bytes where this reachd has 24: rebuild it against this reachd")
  }

  @Test("another interface is refused, and the message says which side is behind", arguments: [0, 99] as [UInt32])
  func wrongInterface(number: UInt32) throws {
    let remedy = number == 0 ? "rebuild the plugin against this reachd" : "use a newer reachd"
    #expect(
      try reason(Self.handshake("{ 0x50686352, 24, \(number), 0, \"x\" }"))
        == "was built for plugin interface \(number), this reachd has 1: \(remedy)")
  }

  @Test("another compiler is refused, and so is none")
  func wrongCompiler() throws {
    let wrong = try reason(Self.handshake("{ 0x50686352, 24, 1, 0, \"some other compiler\" }"))
    #expect(wrong.hasPrefix("was built with another compiler (some other compiler) than this reachd ("))
    #expect(wrong.hasSuffix("): rebuild it with the same Swift toolchain"))
    #expect(
      try reason(Self.handshake("{ 0x50686352, 24, 1, 0, NULL }"))
        == "does not say which compiler built it: rebuild the plugin")
  }

  @Test("a library whose needs cannot be met is refused with the loader's words")
  func undefinedSymbol() throws {
    let reason = try reason("extern int nowhere_to_be_found(void); int use(void) { return nowhere_to_be_found(); }")
    #expect(reason.hasPrefix("cannot be loaded: "))
    #expect(reason.contains("nowhere_to_be_found"))
  }

  @Test("a plugin that needs a Swift library which is not there is told how to do without")
  func swiftLibrary() throws {
    let scratch = try Scratch()
    try scratch.compile("int nothing;", as: "libswiftNowhere.so", flags: ["-Wl,-soname,libswiftNowhere.so"])
    try scratch.compile(
      "int x;", as: "libBadProbe.so",
      flags: ["-Wl,--no-as-needed", scratch.file("libswiftNowhere.so"), "-Wl,-soname,libBadProbe.so"])
    try run("/bin/rm", scratch.file("libswiftNowhere.so"))
    let reason = try #require(PluginHost.load(["bad"], searchPath: [scratch.path]).first?.rejection).reason
    #expect(reason.hasPrefix("cannot be loaded: libswiftNowhere.so: "))
    #expect(reason.contains("build the plugin with -c release"))
  }
}
