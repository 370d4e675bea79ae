import Glibc
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// The commands that run to their end: `--help`, `--version`, `check`, `plugins`, and what cannot be understood.
@Suite(.timeLimit(.minutes(4)))
struct CommandTests {
  @Test("--version says which it is", arguments: [["--version"]])
  func version(words: [String]) async throws {
    let ended = try await Reachd.run(words[0])
    #expect(ended.status == 0)
    #expect(ended.output.hasPrefix("reachd "))
    #expect(ended.output.contains("Swift 6."))
    #expect(ended.output.split(separator: "\n").count == 1)
    #expect(ended.errors == "")
  }

  @Test("help is a result: on standard output, with status 0")
  func help() async throws {
    let whole = try await Reachd.run("--help")
    #expect(whole.status == 0)
    #expect(whole.errors == "")
    for command in ["run", "check", "probe", "plugins", "history"] {
      #expect(whole.output.contains("\n  \(command) "))
      let one = try await Reachd.run(command, "--help")
      #expect(one.status == 0)
      #expect(one.output.hasPrefix("usage: reachd \(command)"))
      #expect(one.errors == "")
    }
  }

  @Test(
    "a command line that cannot be understood is told in one line, with the usage, and status 64",
    arguments: [
      [], ["fly"], ["run", "--fly"], ["run", "--config"], ["run", "--log-level", "loud"], ["run", "--listen", "x"],
      ["probe"], ["probe", "--timeout", "5", "127.0.0.1"], ["probe", "--timeout", "0s", "127.0.0.1"],
      ["probe", "256.1.1.1"], ["probe", "http://example.com/"],
      ["check", "file.yaml"],
    ])
  func usage(words: [String]) async throws {
    let ended = try await withEventLoop { loop in try await Reachd.run(words, on: loop) }
    #expect(ended.status == 64)
    #expect(ended.output == "")
    let lines = ended.errors.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines[0].hasPrefix("reachd: "))
    #expect(lines.count > 1 && lines[1].hasPrefix("usage: reachd"), "\(ended.errors)")
  }

  @Test("check says that a file is valid, or each thing that is wrong with it")
  func check() async throws {
    let example = try await Reachd.run("check", "--config", Reachd.sources + "/etc/reachd.yaml")
    #expect(example.status == 0, "\(example.errors)")
    #expect(example.errors == "")
    let folder = try TestFolder()
    let idle = try folder.write("targets: []\n", to: "idle.yaml")
    let warned = try await Reachd.run("check", "--config", idle)
    #expect(warned.status == 0)
    #expect(warned.errors.contains(": warning: "))
    let broken = try folder.write("targets: [\"::1:80\", 0.0.0.0]\nweb: { listen: [nowhere] }\n", to: "broken.yaml")
    let refused = try await Reachd.run("check", "--config", broken)
    #expect(refused.status == 1)
    #expect(refused.output == "")
    #expect(refused.errors.split(separator: "\n").allSatisfy { $0.hasPrefix(broken + ":") && $0.contains(": error: ") })
    #expect(refused.errors.split(separator: "\n").count == 3, "\(refused.errors)")
    let absent = try await Reachd.run("check", "--config", folder.path + "/none.yaml")
    #expect(absent.status == 1)
    #expect(absent.errors.contains(folder.path + "/none.yaml"))
  }

  @Test(
    "check says how many series a scrape has, as the agent has them then", arguments: ["compact", "standard", "full"])
  func scrapeSize(detail: String) async throws {
    try await withEventLoop { loop in
      let port = try TestPort(.open)
      let configuration = """
        metrics: { detail: \(detail) }
        targets:
          - { name: port, address: 127.0.0.1, port: \(port.number), labels: { site: fra1 } }
          - { name: lo, interface: lo }
          - 127.0.0.1
        """
      let folder = try TestFolder()
      let file = try folder.write(configuration, to: "reachd.yaml")
      let check = try await Reachd.run(["check", "--config", file], on: loop)
      let line = check.output.split(separator: "\n").last ?? ""
      #expect(
        line.hasPrefix("a scrape has ") && line.hasSuffix(", once every target has been reached"), "\(check.output)")
      let numbers = line.split { !$0.isNumber }.compactMap { Int($0) }
      let agent = try await RunningAgent.start(configuration, on: loop)
      _ = try await agent.awaitStatus("ReachableViaWiFi", of: "port")
      _ = try await agent.awaitStatus("ReachableViaWiFi", of: "127.0.0.1")
      let scrape = try await agent.client.get("/metrics").body
      withExtendedLifetime(port) {}
      // What has happened to an agent is not known before: requests, messages of the kernel.
      let counted = ["reachd_http_requests_total", "reachd_netlink_messages_total"]
      let series = scrape.split(separator: "\n").filter { line in
        !line.hasPrefix("#") && !counted.contains { line.hasPrefix($0) }
      }
      #expect(numbers.count == 2 && numbers[0] == series.count + 1, "\(line), \(series.count)")
      let bytes = scrape.utf8.count
      #expect(numbers.count == 2 && numbers[1] > bytes * 9 / 10 && numbers[1] < bytes * 11 / 10, "\(line), \(bytes)")
    }
  }

  @Test("every example that is delivered is valid")
  func examples() async throws {
    let files = try runProgram(["find", Reachd.sources + "/etc", Reachd.sources + "/Plugins", "-name", "*.yaml"])
      .output.split(separator: "\n").map(String.init)
    #expect(files.count > 5)
    for file in files {
      let ended = try await Reachd.run("check", "--config", file)
      #expect(ended.status == 0, "\(file): \(ended.errors)")
    }
  }

  @Test("plugins names the four backends with their options")
  func plugins() async throws {
    let text = try await Reachd.run("plugins", "--config", "/dev/null")
    #expect(text.status == 0, "\(text.output)\(text.errors)")
    let json = try await Reachd.run("plugins", "--json", "--config", "/dev/null")
    #expect(json.status == 0)
    let plugins = try JSON(parsing: json.output).elements
    #expect(plugins.compactMap { $0["name"]?.text } == ["dns", "link", "route", "tcp"])
    for plugin in plugins {
      #expect(plugin.names == ["name", "version", "layer", "file", "summary", "options"])
      #expect(plugin["file"]?.text?.hasPrefix(Reachd.folder) == true)
      for option in plugin["options"]?.elements ?? [] {
        #expect(option.names == ["name", "type", "default", "summary"])
      }
      #expect(text.output.contains("\(plugin["name"]?.text ?? "") \(plugin["version"]?.text ?? ""), layer "))
    }
  }

  @Test("a plugin that others could have written is refused; the agent does without it and says so")
  func refusedPlugin() async throws {
    try await withEventLoop { loop in
      let folder = try TestFolder()
      for plugin in Reachd.plugins {
        let result = try runProgram(["cp", plugin, folder.path + "/"])
        #expect(result.isSuccess)
      }
      _ = try runProgram(["chmod", "g+w", folder.path + "/libTCPProbe.so"])
      let port = try TestPort(.open).number
      let configuration = """
        plugin_path: [\(folder.path)]
        defaults: { interval: 1s, timeout: 900ms }
        targets: [{ name: service, address: 127.0.0.1, port: \(port) }, { name: host, address: 127.0.0.1 }]
        """
      let file = try folder.write(configuration, to: "reachd.yaml")
      let text = try await Reachd.run(["plugins", "--config", file], on: loop)
      #expect(text.status == 1)
      #expect(text.output.contains("tcp REJECTED, \(folder.path)/libTCPProbe.so"))
      #expect(text.output.contains("chmod go-w"))
      let json = try await Reachd.run(["plugins", "--json", "--config", file], on: loop)
      #expect(json.status == 1)
      let refused = try JSON(parsing: json.output).elements.first { $0["name"]?.text == "tcp" }
      #expect(refused?.names == ["name", "file", "rejected"])

      let agent = try await RunningAgent.start(configuration, on: loop)
      try await agent.awaitReady()
      let line = try #require(agent.lines("plugin_rejected").first)
      #expect(line["plugin"] == .string("tcp"))
      #expect(line["level"] == .string("error"))
      #expect(line["reason"]?.text?.contains("chmod go-w") == true)
      let service = try await agent.target("service")
      #expect(service?["status"] == .string("Unknown"))
      #expect(service?["reason"] == .string("backend_missing"))
      #expect(service?["layer"] == .string("local"))
      #expect(try await agent.target("host")?["status"] == .string("ReachableViaWiFi"))
      #expect(try await agent.client.metrics().values("reachd_plugin_info").count == 3)
      #expect(try await agent.stop() == 0)
    }
  }
}
