import ReachCore
import ReachTestSupport

@testable import EndToEndTools

/// A cable from a machine to the test's own network: what is at its other end answers as the machine's router, name
/// server and whatever else the test opens there.
enum MachineCable {
  /// The address of the other end, which is the machine's router.
  static let peer: IPAddress = "192.0.2.1"
  /// Another one, which the machine's resolv.conf names.
  static let resolver: IPAddress = "192.0.2.53"

  /// Plugs it in: an interface `eth0` appears in the machine, gets its address 192.0.2.7 and a default route.
  static func plug(into machine: BootedMachine, _ stage: NetworkStage) throws {
    try stage.join(stage.host, "cable", to: machine.network, "eth0")
    try stage.ip("addr add 192.0.2.1/24 dev cable\naddr add 192.0.2.53/24 dev cable")
    try machine.network.ip("addr add 192.0.2.7/24 dev eth0\nroute add default via 192.0.2.1")
  }

  /// Takes it away, interfaces and all.
  static func unplug(_ stage: NetworkStage) throws { try stage.ip("link del cable") }
}
