import Glibc
import ReachCore
import ReachPluginHost
import ReachProbe
import Testing

/// The plugins of this very build, and copies of them that must be refused.
@Suite(.timeLimit(.minutes(4))) struct PluginHostTests {
  private func only(_ name: String, in folders: [String]) throws -> PluginResult {
    try #require(PluginHost.load([name], searchPath: folders).first)
  }

  private func reason(_ name: String, in folder: String) throws -> String {
    try #require(try only(name, in: [folder]).rejection).reason
  }

  @Test("the four plugins of the build are loaded, each with its name and layer, in the order asked for")
  func builtPlugins() throws {
    let results = PluginHost.load(["tcp", "dns", "route", "link"], searchPath: [BuiltPlugins.folder])
    #expect(results.compactMap(\.rejection) == [])
    #expect(results.compactMap { $0.plugin?.name } == ["tcp", "dns", "route", "link"])
    #expect(results.compactMap { $0.plugin?.layer } == [.tcp, .dns, .route, .link])
    #expect(results.allSatisfy { $0.plugin?.version.isEmpty == false })
    #expect(results.first?.plugin?.file == BuiltPlugins.file("libTCPProbe.so"))
  }

  @Test("a file is loaded once: asked for again, under another path too, it gives the same registration")
  func sameRegistration() throws {
    let scratch = try Scratch()
    #expect(unsafe symlink(BuiltPlugins.file("libTCPProbe.so"), scratch.file("libTcpProbe.so")) == 0)
    let first = try #require(try only("tcp", in: [BuiltPlugins.folder]).plugin)
    let linked = try #require(try only("tcp", in: [scratch.path]).plugin)
    #expect(linked.version == first.version)
    #expect(linked.registration.options == first.registration.options)
    #expect(linked.file == scratch.file("libTcpProbe.so"))
  }

  @Test("discovery finds every plugin of the search path, good or not, sorted by name")
  func discovery() throws {
    let scratch = try Scratch()
    try scratch.write("libBrokenProbe.so", "not a library")
    try scratch.write("libNothing.so", "not even a plugin by name")
    let results = PluginHost.discover(searchPath: [BuiltPlugins.folder, scratch.path, "/nonexistent"])
    #expect(results.map(\.name) == ["broken", "dns", "link", "route", "tcp"])
    #expect(results.compactMap(\.rejection).map(\.name) == ["broken"])
  }

  @Test("the first folder of the search path that has the file decides, even when that file is refused")
  func searchOrder() throws {
    let scratch = try Scratch()
    try scratch.write("libTCPProbe.so", "not a library")
    let refused = try only("tcp", in: [scratch.path, BuiltPlugins.folder])
    #expect(refused.rejection?.file == scratch.file("libTCPProbe.so"))
    #expect(try only("tcp", in: ["/nonexistent", BuiltPlugins.folder]).plugin != nil)
  }

  @Test("a plugin that is nowhere is refused with the file name and the folders it was looked for in")
  func absent() throws {
    let rejection = try #require(try only("icmp", in: ["/nonexistent", "/tmp"]).rejection)
    #expect(rejection.file == nil)
    #expect(
      rejection.reason
        == "no libICMPProbe.so in /nonexistent, /tmp: install the plugin, correct the backend's name, "
        + "or name its folder in plugin_path")
  }

  @Test("a file or a folder that others may write to is refused, and the message says how to mend it")
  func writable() throws {
    let scratch = try Scratch()
    let file = try scratch.copy(BuiltPlugins.file("libTCPProbe.so"), as: "libTCPProbe.so", mode: 0o664)
    #expect(
      try reason("tcp", in: scratch.path)
        == "its group may write to the file, and so change what reachd runs: chmod go-w \(file)")
    unsafe chmod(file, 0o646)
    #expect(
      try reason("tcp", in: scratch.path)
        == "everybody may write to the file, and so change what reachd runs: chmod go-w \(file)")
    unsafe chmod(file, 0o644)
    unsafe chmod(scratch.path, 0o770)
    #expect(
      try reason("tcp", in: scratch.path)
        == "its group may write to the folder, and so change what reachd runs: chmod go-w \(scratch.path)")
  }

  @Test(
    "a file of another user is refused",
    // Needs a file that belongs neither to root nor to this user: root makes one, and in a user namespace the files
    // of the machine's root are such. An ordinary user has none at hand.
    .enabled(if: foreignUser != nil || requiresAllTests))
  func foreign() throws {
    let scratch = try Scratch()
    let file = scratch.file("libTCPProbe.so")
    let user = try #require(foreignUser)
    if unsafe chown(try scratch.copy(BuiltPlugins.file("libTCPProbe.so"), as: "libTCPProbe.so"), user, user) != 0 {
      #expect(unsafe unlink(file) == 0)
      #expect(unsafe symlink("/etc/passwd", file) == 0)
    }
    #expect(
      try reason("tcp", in: scratch.path)
        .hasPrefix("the file belongs to user \(user), who could change what reachd runs: chown root /"))
  }

  @Test("a link that others could point elsewhere does not help: what it points to is what is checked")
  func symbolicLink() throws {
    let scratch = try Scratch()
    let open = try Scratch()
    let file = try open.copy(BuiltPlugins.file("libTCPProbe.so"), as: "libTCPProbe.so", mode: 0o666)
    #expect(unsafe symlink(file, scratch.file("libTCPProbe.so")) == 0)
    #expect(try reason("tcp", in: scratch.path).hasPrefix("everybody may write to the file"))
    #expect(unsafe symlink("/nonexistent", scratch.file("libDNSProbe.so")) == 0)
    #expect(try reason("dns", in: scratch.path) == "cannot be found (ENOENT): a dangling link? reinstall the plugin")
  }

  @Test("what is no library, no file or a plugin under another's name is refused")
  func nonsense() throws {
    let scratch = try Scratch()
    try scratch.write("libTCPProbe.so", "garbage")
    #expect(try reason("tcp", in: scratch.path).hasPrefix("cannot be loaded: "))
    #expect(unsafe mkdir(scratch.file("libDNSProbe.so"), 0o755) == 0)
    #expect(try reason("dns", in: scratch.path) == "is not a regular file: put the library itself there")
    #expect(unsafe mkfifo(scratch.file("libLinkProbe.so"), 0o644) == 0)
    #expect(try reason("link", in: scratch.path) == "is not a regular file: put the library itself there")
    try scratch.copy(BuiltPlugins.file("libTCPProbe.so"), as: "libRouteProbe.so")
    #expect(
      try reason("route", in: scratch.path)
        == "registers the backend \"tcp\", not \"route\": rename the file to libTCPProbe.so")
  }

  @Test("a plugin that was copied by half is refused before the loader maps it", arguments: [64, 2_000, 50_000])
  func halfCopied(size: Int) throws {
    let scratch = try Scratch()
    let file = try scratch.copy(BuiltPlugins.file("libTCPProbe.so"), as: "libTCPProbe.so")
    #expect(unsafe truncate(file, size) == 0)
    #expect(
      try reason("tcp", in: scratch.path)
        == "is cut off: its headers speak of more than the file holds; copy the plugin again")
  }

  @Test("an unreadable file is refused with its errno", .enabled(if: geteuid() != 0))
  func unreadable() throws {
    let scratch = try Scratch()
    try scratch.copy(BuiltPlugins.file("libTCPProbe.so"), as: "libTCPProbe.so", mode: 0o200)
    #expect(try reason("tcp", in: scratch.path).hasPrefix("cannot be opened (EACCES)"))
  }
}

/// A user, neither root nor this one, of whom there is a file, or can be.
let foreignUser: uid_t? = {
  guard geteuid() == 0 else { return nil }
  if let scratch = try? Scratch(), let file = try? scratch.write("file", ""), unsafe chown(file, 1234, 1234) == 0 {
    return 1234
  }
  var status = stat()
  return unsafe stat("/etc/passwd", &status) == 0 && status.st_uid != 0 ? status.st_uid : nil
}()

/// Whether a test that cannot run must fail rather than be skipped.
let requiresAllTests = unsafe getenv("REACHD_REQUIRE_ALL_TESTS").map { unsafe String(cString: $0) == "1" } ?? false
