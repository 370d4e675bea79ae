import Glibc
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// What `make install` puts into place, run from there. It builds for release, which takes minutes.
@Suite(.enabled(if: isInstallWanted, "takes a release build: set REACHD_TEST_INSTALL=1"))
struct InstallTests {
  @Test("what is installed stands by itself, runs with its own plugins, and fits into 14 MiB", .timeLimit(.minutes(30)))
  func install() async throws {
    try await withEventLoop { loop in
      let folder = try TestFolder()
      let make = try ChildProcess(["make", "-C", Reachd.sources, "install", "DESTDIR=\(folder.path)"], on: loop)
      let status = try await make.exitStatus(within: .seconds(29 * 60))
      #expect(status == 0, "\(make.errors)")
      let program = folder.path + "/usr/bin/reachd"

      let listing = try ChildProcess([program, "plugins", "--json", "--config", "/dev/null"], on: loop)
      #expect(try await listing.exitStatus() == 0, "\(listing.output)\(listing.errors)")
      let plugins = try JSON(parsing: listing.output).elements
      #expect(plugins.count == 4)
      #expect(plugins.allSatisfy { $0["file"]?.text?.hasPrefix(folder.path + "/usr/lib/reachd/plugins/") == true })

      // Not by the link in bin, beside which ldd(1) would look for the libraries.
      let libraries = try runProgram(["/usr/bin/ldd", folder.path + "/usr/lib/reachd/reachd"])
      #expect(!libraries.output.contains("not found") && !libraries.output.contains("Foundation"))

      let open = try TestPort(.open)
      let targets = (0..<10).map { "  - { name: t\($0), host: localhost, port: \(open.number) }\n" }
      let agent = try await RunningAgent.start(
        "defaults: { interval: 500ms, timeout: 400ms }\ntargets:\n" + targets.joined(), program: program, on: loop)
      try await agent.awaitReady()
      let metrics = try await agent.client.metrics()
      #expect(metrics.values("reachability_status", ["status": "ReachableViaWiFi"]).reduce(0, +) == 10)
      let resident = try #require(try agent.process.residentKibibytes)
      print("resident memory with 10 targets, as installed: \(resident) KiB")
      #expect(resident <= 14 * 1024)
      #expect(try await agent.stop() == 0)
    }
  }
}

private let isInstallWanted: Bool = {
  guard let value = unsafe getenv("REACHD_TEST_INSTALL") else { return false }
  return unsafe String(cString: value) == "1"
}()
