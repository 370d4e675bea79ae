import ReachCore

/// The networks that the world's routes lead to.
enum Network: Int, CaseIterable {
  /// 0.0.0.0/0.
  case defaultIPv4
  /// `::/0`.
  case defaultIPv6
  /// 198.51.100.0/24, which has a route of its own.
  case branch
  /// What is on the link of each interface, by its place.
  case onLink0, onLink1, onLink2

  static func onLink(_ place: Int) -> Network { place == 0 ? .onLink0 : place == 1 ? .onLink1 : .onLink2 }
}

/// The hosts of the world, with the networks that hold each, the narrowest first.
enum Place: Int, CaseIterable {
  case web, mirror, web6, store, neighbour, other, resolver

  var address: IPAddress { Self.addresses[rawValue] }
  var networks: [Network] { Self.networks[rawValue] }

  private static let addresses = [
    IPAddress(ipv4: 0xcb00_710a), IPAddress(ipv4: 0xcb00_7114), IPAddress(ipv6High: 0x2001_0db8_0001_0000, low: 0x10),
    IPAddress(ipv4: 0xc633_640a), IPAddress(ipv4: 0x0a00_0014), IPAddress(ipv4: 0x0a01_0014),
    IPAddress(ipv4: 0x0a00_0035),
  ]

  private static let networks: [[Network]] = [
    [.defaultIPv4], [.defaultIPv4], [.defaultIPv6], [.branch, .defaultIPv4], [.onLink0, .defaultIPv4],
    [.onLink1, .defaultIPv4], [.onLink0, .defaultIPv4],
  ]

  private static let places = Dictionary(uniqueKeysWithValues: allCases.map { ($0.address, $0) })

  /// The host that has the address; nil for one that stands for the default path.
  static func of(_ address: IPAddress) -> Place? { places[address] }

  /// The networks that hold the address.
  static func networks(holding address: IPAddress) -> [Network] {
    of(address)?.networks ?? (address.family == .ipv4 ? [.defaultIPv4] : [.defaultIPv6])
  }
}
