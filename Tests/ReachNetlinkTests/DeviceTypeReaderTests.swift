import Glibc
import ReachCore
import Testing

@testable import ReachNetlink

@Suite struct DeviceTypeReaderTests {
  /// Runs `body` with a folder that looks like /sys/class/net with one interface `x0`.
  private func withFolder(
    uevent: String, address: String = "02:00:00:00:00:01\n", entries: [String] = [], _ body: (DeviceTypeReader) -> Void
  ) throws {
    var template = Array("/tmp/reachd-sysfs.XXXXXX\0".utf8CString)
    let root = try #require(unsafe mkdtemp(&template).map { unsafe String(cString: $0) })
    var made = [root]
    for folder in ["x0"] + entries.map({ "x0/" + $0 }) {
      unsafe mkdir(root + "/" + folder, 0o755)
      made.append(root + "/" + folder)
    }
    for (name, text) in [("uevent", uevent), ("address", address)] {
      let file = unsafe open(root + "/x0/" + name, O_CREAT | O_WRONLY | O_CLOEXEC, 0o644)
      _ = unsafe write(file, text, text.utf8.count)
      close(file)
      made.append(root + "/x0/" + name)
    }
    defer { for path in made.reversed() { _ = unsafe remove(path) } }
    body(DeviceTypeReader(root: root))
  }

  private var link: LinkAttributes {
    var link = LinkAttributes(index: 7, name: "x0")
    link.hardwareAddress = [2, 0, 0, 0, 0, 1]
    return link
  }

  @Test("DEVTYPE tells 802.11 and cellular")
  func readsDeviceType() throws {
    try withFolder(uevent: "DEVTYPE=wlan\nINTERFACE=x0\nIFINDEX=7\n") { #expect($0.deviceType(of: link) == .wlan) }
    try withFolder(uevent: "DEVTYPE=wwan\nINTERFACE=x0\nIFINDEX=7\n") { #expect($0.deviceType(of: link) == .wwan) }
    try withFolder(uevent: "DEVTYPE=bridge\nINTERFACE=x0\nIFINDEX=7\n") {
      #expect($0.deviceType(of: link) == .unspecified)
    }
  }

  @Test("802.11 is also told by phy80211 or wireless", arguments: ["phy80211", "wireless"])
  func readsMarks(entry: String) throws {
    try withFolder(uevent: "INTERFACE=x0\nIFINDEX=7\n", entries: [entry]) {
      #expect($0.deviceType(of: link) == .wlan)
    }
  }

  @Test("what another namespace's sysfs says of an interface of that name is not believed")
  func disbelievesOthers() throws {
    try withFolder(uevent: "DEVTYPE=wlan\nIFINDEX=77\n") { #expect($0.deviceType(of: link) == .unspecified) }
    try withFolder(uevent: "DEVTYPE=wlan\n") { #expect($0.deviceType(of: link) == .unspecified) }
    try withFolder(uevent: "DEVTYPE=wlan\nIFINDEX=7\n", address: "02:00:00:00:00:02\n") {
      #expect($0.deviceType(of: link) == .unspecified)
    }
    try withFolder(uevent: "DEVTYPE=wlan\nIFINDEX=7\n", address: "") {
      #expect($0.deviceType(of: link) == .unspecified)
    }
  }

  @Test("a raw-IP modem has no hardware address, and its sysfs entry says so")
  func readsWithoutAddress() throws {
    var modem = link
    modem.hardwareAddress = []
    try withFolder(uevent: "DEVTYPE=wwan\nIFINDEX=7\n", address: "\n") { #expect($0.deviceType(of: modem) == .wwan) }
  }

  @Test("software interfaces, odd names and missing entries are not looked up")
  func passesOver() throws {
    try withFolder(uevent: "DEVTYPE=wlan\nIFINDEX=7\n") { reader in
      var other = link
      other.kind = "veth"
      #expect(reader.deviceType(of: other) == .unspecified)
      for name in ["", ".", "..", "../x0", "y0"] {
        other = link
        other.name = name
        #expect(reader.deviceType(of: other) == .unspecified, "\(name)")
      }
    }
  }
}
