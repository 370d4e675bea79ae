import ReachTestSupport
import Testing

@testable import EndToEndTools

/// What is in the Debian package, and what is not.
@Suite(.enabled(if: DebianPackage.isAvailable, "\(DebianPackage.requirement)"))
struct PackageContentsTests {
  /// Everything but the documents and the examples, which are as many as their folders hold.
  private static let files = """
    /etc/reachd/reachd.yaml
    /usr/bin/reachd
    /usr/lib/reachd/libBlocksRuntime.so
    /usr/lib/reachd/libReachKit.so
    /usr/lib/reachd/libdispatch.so
    /usr/lib/reachd/libswiftCore.so
    /usr/lib/reachd/libswiftGlibc.so
    /usr/lib/reachd/libswiftSynchronization.so
    /usr/lib/reachd/libswift_Builtin_float.so
    /usr/lib/reachd/libswift_Concurrency.so
    /usr/lib/reachd/plugins/libDNSProbe.so
    /usr/lib/reachd/plugins/libLinkProbe.so
    /usr/lib/reachd/plugins/libRouteProbe.so
    /usr/lib/reachd/plugins/libTCPProbe.so
    /usr/lib/reachd/reachd
    /usr/lib/systemd/system/reachd.service
    /usr/lib/systemd/system/reachd.socket
    /usr/share/bash-completion/completions/reachd
    /usr/share/doc/reachd/changelog.gz
    /usr/share/doc/reachd/copyright
    /usr/share/fish/vendor_completions.d/reachd.fish
    /usr/share/lintian/overrides/reachd
    /usr/share/man/man5/reachd.yaml.5.gz
    /usr/share/man/man8/reachd.8.gz
    /usr/share/zsh/vendor-completions/_reachd
    """

  @Test("it holds the agent, its plugins and what they need of the Swift runtime, and nothing that is not listed here")
  func files() throws {
    let paths = try DebianPackage.entries().map(\.path).filter { !$0.hasSuffix("/") }
    let folder = "/usr/share/doc/reachd"
    let pages: [String] = try Repository.files(in: "docs").map { folder + $0.dropFirst("docs".count) + ".gz" }
    let configurations: [String] = try Repository.files(in: "etc/examples").map { folder + $0.dropFirst("etc".count) }
    let delivered: [String] = try ["prometheus", "alertmanager", "grafana", "systemd/drop-ins"].flatMap { name in
      try Repository.files(in: "deploy/" + name).map { folder + "/examples" + $0.dropFirst("deploy".count) }
    }
    let documents = pages + configurations + delivered
    #expect(paths.filter { !documents.contains($0) } == Self.files.split(separator: "\n").map(String.init))
    #expect(documents.allSatisfy(paths.contains))
  }

  @Test("all belongs to root, only the agent can be run, nobody else can write, and the link leads to the agent")
  func modes() throws {
    for entry in try DebianPackage.entries() {
      #expect(entry.owner == "root/root", "\(entry.path)")
      switch entry.path {
      case let path where path.hasSuffix("/"): #expect(entry.mode == "drwxr-xr-x", "\(path)")
      case "/usr/bin/reachd": #expect(entry.destination == "../lib/reachd/reachd")
      case "/usr/lib/reachd/reachd": #expect(entry.mode == "-rwxr-xr-x")
      default: #expect(entry.mode == "-rw-r--r--", "\(entry.path)")
      }
    }
  }

  @Test("nothing in it is dated later than the commit it was made of")
  func dates() throws {
    let dates = Set(try DebianPackage.entries().map(\.date))
    #expect(dates.count == 1, "\(dates)")
  }

  @Test("programs and libraries look for others beside themselves only, are stripped, and resist being written to")
  func binaries() throws {
    let package = try DebianPackage.unpack()
    let paths = try DebianPackage.entries().map(\.path)
    let binaries = paths.filter { $0.hasPrefix("/usr/lib/reachd/") && !$0.hasSuffix("/") }
    let ofToolchain = ["/libswift", "/libdispatch.so", "/libBlocksRuntime.so"]
    for path in binaries {
      let file = package.path + "/tree" + path
      let dynamic = try succeed("readelf", "--wide", "--dynamic", "--program-headers", file)
      let lines = dynamic.split(separator: "\n")
      for line in lines where line.contains("RUNPATH") || line.contains("RPATH") {
        let folders = line.drop { $0 != "[" }.dropFirst().dropLast().split(separator: ":")
        #expect(folders.allSatisfy { ["$ORIGIN", "$ORIGIN/.."].contains($0) }, "\(path): \(line)")
      }
      #expect(!lines.contains { $0.contains("NEEDED") && $0.contains("Foundation") }, "\(path)")
      #expect(lines.contains { $0.contains("GNU_RELRO") }, "\(path)")
      #expect(lines.contains { $0.contains("GNU_STACK") && $0.contains("RW ") }, "\(path)")
      #expect(!(try succeed("readelf", "--wide", "--sections", file)).contains(".symtab"), "\(path)")
      if !ofToolchain.contains(where: path.contains) { #expect(dynamic.contains("BIND_NOW"), "\(path)") }
      if path == "/usr/lib/reachd/reachd" { #expect(dynamic.contains("Flags: NOW PIE")) }
    }
  }

  @Test("its fields name the program's version, who looks after it, and what it needs and can do without")
  func fields() async throws {
    #expect(try DebianPackage.field("Package") == "reachd")
    // Beside the version of the program, what puts it before or after a release.
    let ofProgram = try await Reachd.run("--version").output.split(separator: " ").dropFirst().first ?? "none"
    #expect(DebianPackage.version.prefix { $0 != "~" && $0 != "+" } == ofProgram)
    #expect(try !DebianPackage.field("Maintainer").isEmpty)
    let needed = try DebianPackage.field("Depends").split(separator: ",").map {
      String($0.split(separator: " ").first ?? "")
    }
    #expect(needed.contains("libc6") && needed.contains("adduser"))
    #expect(!needed.contains { $0.hasSuffix("-dev") || $0.hasPrefix("libcurl") }, "\(needed)")
    #expect(try DebianPackage.field("Recommends").contains("libcurl4"))
    let installed = try #require(Int(DebianPackage.field("Installed-Size")))
    print("the Debian package takes \(installed) KiB when installed")
    #expect(installed < 20 * 1024)
  }

  @Test("its one configuration file is kept over an upgrade, and is valid")
  func configuration() async throws {
    let package = try DebianPackage.unpack()
    #expect(try textOfFile(package.path + "/tree/DEBIAN/conffiles") == "/etc/reachd/reachd.yaml\n")
    let delivered = package.path + "/tree/etc/reachd/reachd.yaml"
    #expect(try textOfFile(delivered) == Repository.text("deploy/reachd.yaml"))
    let ended = try await Reachd.run("check", "--config", delivered)
    #expect(ended.status == 0 && ended.errors.isEmpty, "\(ended.errors)")
  }

  @Test("lintian(1) has no complaint but those that are overridden with a reason")
  func lintian() throws {
    let result = try runProgram([
      "lintian", "--allow-root", "--display-info", "--pedantic", "--tag-display-limit=0", DebianPackage.path,
    ])
    let complaints = result.output.split(separator: "\n").filter { !$0.hasPrefix("N:") }
    #expect(result.isSuccess && complaints.isEmpty, "\(result.output)")
  }

  @Test("the man pages are shown without a warning", arguments: ["man5/reachd.yaml.5", "man8/reachd.8"])
  func manPages(page: String) throws {
    let package = try DebianPackage.unpack()
    let file = "\(package.path)/tree/usr/share/man/\(page).gz"
    // What is shown is thrown away, so that only complaints are left.
    let show = try runProgram(["sh", "-c", "LC_ALL=C.UTF-8 man --warnings=w --local-file \"$0\" 2>&1 >/dev/null", file])
    #expect(show.isSuccess && show.output == "", "\(show.output)")
    #expect(try succeed("lexgrog", file).contains(" - "))
  }
}
