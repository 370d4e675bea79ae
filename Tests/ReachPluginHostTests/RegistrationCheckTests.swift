import ReachCore
import ReachProbe
import Testing

@testable import ReachPluginHost

/// What a plugin that has passed the handshake may still say wrongly of itself.
@Suite struct RegistrationCheckTests {
  private func reason(
    _ name: String = "mine", layer: Layer = .tcp, version: String = "1", options: [ProbeOption] = []
  ) -> String? {
    let registration = Registration(
      name: name, layer: layer, version: version, summary: "A probe.", options: options
    ) { (_, _) throws(OptionError) in throw OptionError(option: "", message: "") }
    do throws(PluginRefusal) {
      try RegistrationCheck.check(registration, is: "mine")
      return nil
    } catch {
      return error.reason
    }
  }

  @Test("a layer that no probe looks at is refused")
  func layers() {
    for layer in [Layer.link, .route, .dns, .tcp] { #expect(reason(layer: layer) == nil) }
    #expect(
      reason(layer: .local) == "registers for the layer local, which no probe looks at: use link, route, dns or tcp")
    #expect(reason(layer: .config) != nil)
  }

  @Test("so are another name, no version, and options that cannot be used")
  func others() {
    #expect(reason("other")?.hasPrefix("registers the backend \"other\", not \"mine\"") == true)
    #expect(reason(version: "") != nil)
    #expect(reason(options: [ProbeOption("timeout", .duration, summary: "x")])?.contains("timeout") == true)
    let twice = ProbeOption("port", .integer(1...9), summary: "x")
    #expect(reason(options: [twice, twice]) == "declares the option port twice")
    #expect(
      reason(options: [ProbeOption("port", .integer(1...9), default: .integer(10), summary: "x")])
        == "the default of its option port is not of the option's kind")
  }
}
