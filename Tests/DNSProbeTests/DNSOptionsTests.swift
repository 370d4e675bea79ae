import ReachCore
import ReachProbe
import Testing

@testable import DNSProbe

@Suite struct DNSOptionsTests {
  static let server = OptionEndpoint(address: IPAddress(ipv4: 0x7f00_0001), port: 5300)

  @Test("without options both families are asked of the system's servers, and answers are kept")
  func defaults() throws {
    let options = try DNSOptions(OptionValues())
    #expect(options.families == [.ipv6, .ipv4])
    #expect(options.servers == nil)
    #expect(options.usesCache)
    #expect(!options.bindsSource)
  }

  @Test("a named server is asked each round and from the target's source, unless told otherwise")
  func namedServer() throws {
    var values: [String: OptionValue] = ["server": .endpoint(Self.server), "family": .string("ipv4")]
    var options = try DNSOptions(OptionValues(values))
    #expect(options.servers?.map(\.description) == ["127.0.0.1:5300"])
    #expect(options.families == [.ipv4])
    #expect(!options.usesCache)
    #expect(options.bindsSource)
    values["cache"] = .boolean(true)
    values["bind"] = .boolean(false)
    options = try DNSOptions(OptionValues(values))
    #expect(options.usesCache)
    #expect(!options.bindsSource)
  }

  @Test("the port is 53 where none is written")
  func port() throws {
    let endpoint = OptionEndpoint(address: IPAddress(ipv6High: 0, low: 1), port: nil)
    let options = try DNSOptions(OptionValues(["servers": .endpoints([endpoint, endpoint])]))
    #expect(options.servers?.map(\.description) == ["[::1]:53"])
  }

  @Test("what does not go together is refused with the option's name")
  func refused() {
    let nobody = OptionEndpoint(address: IPAddress(ipv4: 0), port: nil)
    let many = (1...9).map { OptionEndpoint(address: IPAddress(ipv4: UInt32($0)), port: nil) }
    let cases: [([String: OptionValue], String)] = [
      (["server": .endpoint(Self.server), "servers": .endpoints([Self.server])], "servers"),
      (["server": .endpoint(nobody)], "server"), (["servers": .endpoints(many)], "servers"),
    ]
    for (values, option) in cases {
      let error = #expect(throws: OptionError.self) { try DNSOptions(OptionValues(values)) }
      #expect(error?.option == option)
    }
  }
}
