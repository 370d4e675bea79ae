internal import Glibc
internal import ReachCore

/// Asks sysfs what an interface is: DEVTYPE in its uevent file, or the mark of IEEE 802.11.
///
/// sysfs shows the network namespace of the process that mounted it, which need not be ours. What it says of a name is
/// therefore believed only when it gives the index and the hardware address that the kernel gave us for it.
struct DeviceTypeReader: Sendable {
  /// The folder with one entry an interface; `/sys/class/net` but for tests.
  let root: String

  /// What sysfs says of the interface; `unspecified` when it says nothing of use.
  func deviceType(of link: LinkAttributes) -> DeviceType {
    // Interfaces made by software say what they are in IFLA_INFO_KIND.
    guard link.kind.isEmpty, !link.name.isEmpty, !link.name.hasPrefix("."), !link.name.utf8.contains(47) else {
      return .unspecified
    }
    let folder = root + "/" + link.name
    guard let event = Self.read(folder + "/uevent") else { return .unspecified }
    let lines = event.split(separator: "\n")
    guard lines.contains(where: { $0 == "IFINDEX=\(link.index)" }) else { return .unspecified }
    guard isSameHardware(link, folder) else { return .unspecified }
    if lines.contains("DEVTYPE=wwan") { return .wwan }
    let isWireless =
      lines.contains("DEVTYPE=wlan") || Self.exists(folder + "/phy80211") || Self.exists(folder + "/wireless")
    return isWireless ? .wlan : .unspecified
  }

  private func isSameHardware(_ link: LinkAttributes, _ folder: String) -> Bool {
    guard let text = Self.read(folder + "/address") else { return false }
    let octets = text.split(separator: "\n").first?.split(separator: ":").map { UInt8($0, radix: 16) } ?? []
    return octets.elementsEqual(link.hardwareAddress.map(Optional.some))
  }

  private static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  /// The first 4 KiB of a file; what sysfs shows is shorter.
  private static func read(_ path: String) -> String? {
    let number = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
    guard number >= 0 else { return nil }
    defer { close(number) }
    var octets = [UInt8](repeating: 0, count: 4096)
    let count = unsafe octets.withUnsafeMutableBytes { unsafe Glibc.read(number, $0.baseAddress, $0.count) }
    guard count >= 0 else { return nil }
    return String(decoding: octets.prefix(count), as: UTF8.self)
  }
}
