import ReachTestSupport
import Testing

@testable import EndToEndTools

/// A backend that is kept elsewhere, on a host where the Debian package is installed and no Swift is.
@Suite(
  .enabled(if: DebianPackage.isAvailable, "\(DebianPackage.requirement)"),
  .enabled(if: PlainDebian.isAvailable, "\(PlainDebian.requirement)"),
  .enabled(if: ExamplePlugin.isAvailable, "\(ExamplePlugin.requirement)"), .timeLimit(.minutes(5)))
struct InstalledExamplePluginTests {
  private static let place = "/usr/lib/reachd/plugins/libGreetingProbe.so"

  @Test("the release build is loaded, and probes")
  func release() async throws {
    try await withNetworkNamespace { loop, _ in
      let debian = try await PlainDebian(on: loop)
      try await debian.install(DebianPackage.path)
      try debian.copy(ExamplePlugin.folder("release") + "/libGreetingProbe.so", to: Self.place)
      let service = try GreetingService(saying: "220 mail\r\n", on: .loopback, loop: loop)
      try debian.write(
        """
        backends: { link: {}, route: {}, dns: {}, tcp: {}, greeting: {} }
        targets: [{ name: mail, address: 127.0.0.1, port: \(service.port.number), probes: [greeting] }]
        """, to: "/etc/reachd/reachd.yaml")
      let plugins = try JSON(parsing: try await debian.succeed("reachd", "plugins", "--json")).elements
      #expect(plugins.first { $0["name"]?.text == "greeting" }?["file"]?.text == Self.place)
      let probe = try await debian.run("reachd", "probe", "mail")
      #expect(probe.status == 0, "\(probe.output)\(probe.errors)")
    }
  }

  @Test("the debug build is refused, since it asks for a library of the toolchain, and the reason says what to do")
  func debug() async throws {
    try await withNetworkNamespace { loop, _ in
      let debian = try await PlainDebian(on: loop)
      try await debian.install(DebianPackage.path)
      try debian.copy(ExamplePlugin.folder("debug") + "/libGreetingProbe.so", to: Self.place)
      let listing = try await debian.run("reachd", "plugins")
      #expect(listing.status == 1)
      #expect(listing.output.contains("greeting REJECTED, \(Self.place)"))
      #expect(listing.output.contains("build the plugin with -c release"), "\(listing.output)")
    }
  }
}
