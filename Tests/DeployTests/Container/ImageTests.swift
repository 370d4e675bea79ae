import Glibc
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// What is in the image, and what it says of itself.
@Suite(.enabled(if: ContainerImage.isAvailable, "\(ContainerImage.requirement)"), .timeLimit(.minutes(5)))
struct ImageTests {
  private static func has(_ path: String) -> Bool { unsafe access(ContainerImage.root + path, F_OK) == 0 }

  @Test("the image names its user by number, its port, its signal, its health check, and what it runs")
  func description() async throws {
    let image = try ContainerImage.configuration()
    #expect(image["User"]?.text == "65532:65532")
    #expect(image["Entrypoint"] == .array([.string("/usr/bin/reachd")]))
    #expect(image["Cmd"] == .array([.string("run")]))
    #expect(image["ExposedPorts"]?.names == ["10120/tcp"])
    #expect(image["StopSignal"]?.text == "SIGTERM")
    #expect(image.at("Healthcheck.Test") == .array(["CMD", "/usr/bin/reachd", "health"].map { .string($0) }))
    let version = try await Reachd.run("--version").output.split(separator: " ").dropFirst().first.map(String.init)
    let labels = try #require(image["Labels"])
    #expect(labels["org.opencontainers.image.version"]?.text == version)
    for name in ["title", "description", "licenses"] {
      #expect(labels["org.opencontainers.image.\(name)"]?.text?.isEmpty == false)
    }
  }

  @Test("the agent, its plugins and what they are linked with; no shell, no Swift toolchain, no package manager")
  func contents() throws {
    for path in ["/usr/lib/reachd/reachd", "/etc/reachd/reachd.yaml", "/etc/ssl/certs/ca-certificates.crt"] {
      #expect(Self.has(path), "\(path)")
    }
    for path in ["/bin", "/sbin", "/usr/bin/sh", "/usr/bin/swift", "/usr/bin/apt-get", "/usr/bin/dpkg"] {
      #expect(!Self.has(path), "\(path)")
    }
    let programs = try runProgram(["find", ContainerImage.root + "/usr/bin", "-mindepth", "1", "-printf", "%f "])
    #expect(programs.output == "reachd ")
    let foundation = try runProgram(["find", ContainerImage.root, "-name", "*Foundation*"])
    #expect(foundation.output.isEmpty)
    // Plugins that the agent's user could change would be refused.
    let foreign = try runProgram([
      "find", ContainerImage.root, "(", "!", "-user", "0", "-o", "-perm", "/022", ")", "!", "-type", "l", "-printf",
      "/%P ",
    ])
    #expect(Set(foreign.output.split(separator: " ")) == ["/tmp", "/var/lib/reachd"], "\(foreign.output)")
  }

  @Test("everything is found that the libraries in it need, libcurl among them")
  func libraries() throws {
    let loader = try runProgram(["find", ContainerImage.root, "-name", "ld-linux*", "-printf", "/%P\n"])
    let path = try #require(loader.output.split(separator: "\n").first.map(String.init))
    // It is loaded when a source asks for a server, so nothing is linked with it.
    #expect(
      try !runProgram(["find", ContainerImage.root, "-name", "libcurl-gnutls.so.4"]).output.isEmpty,
      "there is no libcurl")
    for name in try runProgram(["find", ContainerImage.root, "-name", "*.so*", "-type", "f", "-printf", "/%P\n"]).output
      .split(separator: "\n")
    {
      let listing = try runProgram(["chroot", ContainerImage.root, path, "--list", String(name)])
      #expect(!listing.output.contains("not found"), "\(name): \(listing.output)")
    }
  }

  @Test("it fits into 50 MB")
  func size() throws {
    let measured = try runProgram(["du", "--summarize", "--bytes", ContainerImage.root])
    let bytes = try #require(measured.output.split(separator: "\t").first.flatMap { Int($0) })
    print("size of the image: \(bytes / 1_000_000) MB")
    #expect(bytes < 50_000_000)
  }

  @Test("it is built with the toolchain that .swift-version names")
  func toolchain() throws {
    let version = try Repository.text(".swift-version").filter { !$0.isWhitespace }
    #expect(try Repository.text("deploy/container/Dockerfile").contains("\nFROM swift:\(version)-bookworm AS build\n"))
  }
}
