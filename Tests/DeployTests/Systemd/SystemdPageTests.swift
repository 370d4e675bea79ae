import ReachTestSupport
import Testing

@testable import EndToEndTools

/// What docs/systemd.md has its readers type, typed in a booted machine.
@Suite(.enabled(if: MachineLayer.isAvailable, "\(MachineLayer.requirement)"))
struct SystemdPageTests {
  @Test("every command of the page does what it is shown for, in the order of the page", .timeLimit(.minutes(5)))
  func commands() async throws {
    let page = try DocumentedPage("docs/systemd.md")
    try #require(page.commands.count > 5)
    try await withMachineAgent(Self.configuration) { agent, _ in
      for case .commands(let block) in page.steps {
        // A block that ends with a failure shows what a mistake in the file leads to.
        if block.status != 0 { try agent.machine.write("nonsense: 1\n", to: "/etc/reachd/reachd.yaml") }
        for (index, command) in block.commands.enumerated() {
          let expected = index == block.commands.count - 1 ? block.status : 0
          let ended = try await agent.machine.run(["sh", "-c", command.text])
          #expect(ended.status == expected, "\(command.place): \(ended.output)\(ended.errors)")
          let shown = command.output?.joined(separator: "\n") ?? ""
          #expect((ended.errors + ended.output).contains(shown), "\(command.place): \(ended.errors)\(ended.output)")
        }
        try agent.machine.write(Self.configuration, to: "/etc/reachd/reachd.yaml")
      }
      #expect(try await agent.property("TriggeredBy") == "reachd.socket")
      #expect(try await agent.client.get("/-/healthy").status == 200)
    }
  }

  private static let configuration = "targets: [127.0.0.1, default]\n"
}
