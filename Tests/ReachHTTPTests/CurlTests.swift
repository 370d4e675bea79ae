import Glibc
import ReachCore
import ReachHTTP
import ReachIO
import ReachTestSupport
import Testing

/// curl, as users have it, against the server.
@Suite(
  .enabled(if: Curl.isAvailable, "needs Debian's package curl, and runs wherever all tests are required"),
  .timeLimit(.minutes(4)))
struct CurlTests {
  @Test(
    "each version of HTTP that curl offers gets an answer",
    arguments: [("--http1.0", 30_000), ("--http1.1", 30_000), ("--http2", 30_000), ("--head", 0)])
  func versions(option: String, size: Int) async throws {
    let result = try await Curl.run([option], "/numbers", reporting: "%{http_code} %{http_version} %{size_download}")
    #expect(result == "200 1.1 \(size)")
  }

  @Test("HTTP/2 without asking first is refused, and curl says so instead of hanging")
  func priorKnowledge() async throws {
    let result = try await Curl.run(["--http2-prior-knowledge"], "/hello", reporting: "%{exitcode}")
    #expect(result != "0")
  }

  @Test("a method that a path does not have is answered with those that it has")
  func methods() async throws {
    let result = try await Curl.run(["--request", "DELETE"], "/hello", reporting: "%{http_code} %header{allow}")
    #expect(result == "405 GET, HEAD")
  }

  @Test("a large body is asked for before it is sent, and refused unsent")
  func expectation() async throws {
    let folder = try TestFolder()
    let file = try folder.write(String(repeating: "b", count: 2_000_000), to: "body")
    let result = try await Curl.run(
      ["--data-binary", "@" + file], "/echo", reporting: "%{http_code} %{size_upload}")
    #expect(result == "413 0")
  }

  @Test("curl --compressed gets gzip and unpacks it")
  func compressed() async throws {
    let folder = try TestFolder()
    let file = folder.path + "/body"
    let result = try await Curl.run(
      ["--compressed", "--output", file], "/chunks", reporting: "%{http_code} %header{content-encoding}",
      routes: GzipTests.routes(size: 1_000_000))
    #expect(result == "200 gzip")
    #expect(try Array(textOfFile(file).utf8) == Lines.text(1_000_000))
  }

  @Test("a Unix socket is served, and only its owner and group may connect")
  func unixSocket() async throws {
    let folder = try TestFolder()
    let path = folder.path + "/socket"
    let result = try await Curl.run(
      ["--unix-socket", path], "/hello", reporting: "%{http_code} %{size_download}", on: .unix(path: path)
    ) {
      var status = stat()
      #expect(unsafe lstat(path, &status) == 0 && status.st_mode & 0o777 == 0o660)
    }
    #expect(result == "200 15")
  }
}

enum Curl {
  static let isAvailable = TestRequirements.areAllRequired || (unsafe access("/usr/bin/curl", X_OK)) == 0

  /// Runs curl on a path of a server of the tests' own; returns what it is told to report (`--write-out` in curl(1)).
  static func run(
    _ options: [String], _ path: String, reporting report: String, on address: ListenAddress = HTTPServerTests.loopback,
    routes: HTTPRoutes = HTTPServerTests.routes(size: 30_000), policy: HTTPPolicy = HTTPPolicy(),
    whileServing check: @escaping @Sendable () -> Void = {}
  ) async throws -> String {
    try await withEventLoop { loop in
      let server = try HTTPServerTests.start(loop, routes: routes, on: [address], policy: policy)
      check()
      let result = try await run(options, path, reporting: report, of: server, on: loop)
      await server.stop(by: loop.now())
      return result
    }
  }

  /// Runs curl on a path of a server that there is. The name in the address is always localhost.
  static func run(
    _ options: [String], _ path: String, reporting report: String, of server: HTTPServer, on loop: EventLoop,
    scheme: String? = nil
  ) async throws -> String {
    var base = "\(scheme ?? (server.isSecure ? "https" : "http"))://localhost/"
    if case .address(_, let port) = server.addresses[0] { base = base.dropLast() + ":\(port)/" }
    let family = options.contains("--unix-socket") ? [] : ["--ipv4"]
    let output = options.contains("--output") ? [] : ["--output", "/dev/null"]
    let curl = try ChildProcess(
      ["curl", "--silent", "--max-time", "20", "--write-out", "%{stderr}" + report] + family + output + options
        + [base + path.dropFirst()], on: loop)
    _ = try await curl.exitStatus()
    return curl.errors
  }
}
