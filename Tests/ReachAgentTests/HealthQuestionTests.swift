import ReachBlackbox
import ReachCore
import ReachTestSupport
import Testing

@testable import ReachAgent

@Suite struct HealthQuestionTests {
  @Test(
    "a URL says whom to ask, what is spoken and for which page",
    arguments: [
      (
        "http://127.0.0.1:10120", HealthQuestion.Place.addresses([IPAddress(ipv4: 0x7f00_0001)], port: 10120),
        "/-/healthy"
      ),
      ("http://127.0.0.1:10120/", .addresses([IPAddress(ipv4: 0x7f00_0001)], port: 10120), "/-/healthy"),
      ("http://localhost/-/ready?a=b", .name("localhost", port: 80), "/-/ready?a=b"),
      ("unix:/run/reachd/reachd.sock", .unix(path: "/run/reachd/reachd.sock"), "/-/healthy"),
    ])
  func urls(text: String, place: HealthQuestion.Place, path: String) throws {
    let question = try HealthQuestion(parsingURL: text)
    #expect(question.place == place && question.path == path && question.schemes == [.http])
  }

  @Test("https is spoken where the URL says so, and a URL with a secret or without a scheme is none")
  func schemes() throws {
    #expect(try HealthQuestion(parsingURL: "https://[::1]:1").schemes == [.https])
    for text in [
      "", "10120", "127.0.0.1:10120", "http://a:b@c/", "http://", "http://c:0", "unix:", "unix:x", "file:///x",
    ] {
      #expect(throws: (any Error).self, "\(text)") { try HealthQuestion(parsingURL: text) }
    }
  }

  @Test("whoever answers that something is missing lives; another page than was asked for is no agent")
  func judged() {
    for status in [200, 401, 429] { #expect(HealthCheck.judge(.status(status)).isHealthy) }
    for status in [100, 301, 400, 403, 404, 500, 503] { #expect(!HealthCheck.judge(.status(status)).isHealthy) }
    #expect(HealthCheck.judge(.refusal("the peer refuses: Certificate is required")).isHealthy)
  }

  @Test("the address is taken from web.listen, whatever else is wrong with the file")
  func configured() throws {
    let folder = try TestFolder()
    let file = try folder.write("targets: 7\nweb: { listen: [\"[::]:7\", \":8\"], reload: 9 }\n", to: "reachd.yaml")
    let question = try HealthQuestion(configuration: file)
    #expect(question.place == .addresses([IPAddress(ipv6High: 0, low: 1), IPAddress(ipv4: 0x7f00_0001)], port: 7))
    #expect(question.host == "localhost" && question.doubts.isEmpty)
  }
}
