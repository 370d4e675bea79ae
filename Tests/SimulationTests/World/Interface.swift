import CReachLinux
import ReachCore

@testable import ReachNetlink

/// An interface of the scripted kernel.
struct Interface {
  /// What it is in the world, whatever its name and index are.
  let place: Int
  var index: Int32
  var name: String
  var isUp = true
  var hasCarrier = true
  var isDormant = false
  var hasAddress = true
  var carrierChanges: UInt32 = 1
  var mtu: UInt32 = 1500
  /// When it was last seen to be unusable.
  var unusableAt = Int64.min

  /// The interface in this place is a modem.
  static let modem = 2

  var isUsable: Bool { isUp && hasCarrier && !isDormant }

  private var flags: UInt32 { 0x2 | (isUp ? 0x1 : 0) | (isUp && hasCarrier ? 0x1_0040 : 0) }
  private var operState: OperState { !isUp || !hasCarrier ? .down : isDormant ? .dormant : .up }
  private var hardwareType: UInt16 { place == Self.modem ? 519 : 1 }
  private var hardwareAddress: [UInt8] { place == Self.modem ? [] : [2, 0, 0, 0, 0, UInt8(place)] }
  private var kind: String { place == Self.modem ? "wwan" : "" }

  /// As a whole reading of the kernel's table shows it.
  var attributes: LinkAttributes {
    var link = LinkAttributes(index: index, name: name, flags: flags, hardwareType: hardwareType)
    link.hardwareAddress = hardwareAddress
    link.operState = operState
    link.hasCarrier = hasCarrier
    link.carrierChanges = carrierChanges
    link.mtu = mtu
    link.kind = kind
    return link
  }

  /// The message that tells of it.
  func message(_ type: Int) -> [UInt8] {
    var message = KernelMessage(type)
    message.octets(0, 0)
    message.append16(hardwareType)
    message.append32(UInt32(bitPattern: index))
    message.append32(flags)
    message.append32(0xffff_ffff)
    message.attribute(IFLA_IFNAME) { $0.bytes += Array(name.utf8) + [0] }
    message.attribute(IFLA_OPERSTATE) { $0.octets(operState.rawValue) }
    message.attribute(IFLA_CARRIER) { $0.octets(hasCarrier ? 1 : 0) }
    message.attribute(IFLA_CARRIER_CHANGES) { $0.append32(carrierChanges) }
    message.attribute(IFLA_MTU) { $0.append32(mtu) }
    if !hardwareAddress.isEmpty { message.attribute(IFLA_ADDRESS) { $0.bytes += hardwareAddress } }
    if !kind.isEmpty {
      message.attribute(IFLA_LINKINFO) { info in
        info.attribute(IFLA_INFO_KIND) { $0.bytes += Array(kind.utf8) + [0] }
      }
    }
    return message.finished
  }

  /// The message that tells of its address; `lifetime` alone may differ from one to the next.
  func addressMessage(_ type: Int) -> [UInt8] {
    var message = KernelMessage(type)
    message.octets(2, 24, 0x80, 0)
    message.append32(UInt32(bitPattern: index))
    let octets: [UInt8] = [10, UInt8(place), 0, 7]
    message.attribute(IFA_ADDRESS) { $0.bytes += octets }
    message.attribute(IFA_LOCAL) { $0.bytes += octets }
    return message.finished
  }
}

/// A message under construction: header, body, attributes (rtnetlink(7)).
struct KernelMessage {
  var bytes: [UInt8]

  init(_ type: Int) {
    bytes = []
    bytes.reserveCapacity(160)
    append32(0)
    append16(UInt16(type))
    append16(0)
    append32(1)
    append32(0)
  }

  /// A message of which only its type matters, with a body of zeros.
  static func bare(_ type: Int) -> [UInt8] {
    var message = KernelMessage(type)
    for _ in 0..<3 { message.append32(0) }
    return message.finished
  }

  var finished: [UInt8] {
    var whole = bytes
    let count = UInt32(whole.count)
    for place in 0..<4 { whole[place] = UInt8(truncatingIfNeeded: count >> (8 * UInt32(place))) }
    return whole
  }

  mutating func octets(_ octets: UInt8...) { bytes += octets }

  mutating func append16(_ value: UInt16) {
    bytes.append(UInt8(truncatingIfNeeded: value))
    bytes.append(UInt8(truncatingIfNeeded: value >> 8))
  }

  mutating func append32(_ value: UInt32) {
    append16(UInt16(truncatingIfNeeded: value))
    append16(UInt16(truncatingIfNeeded: value >> 16))
  }

  mutating func attribute(_ type: Int, _ payload: (inout KernelMessage) -> Void) {
    let start = bytes.count
    append16(0)
    append16(UInt16(type))
    payload(&self)
    let length = UInt16(bytes.count - start)
    bytes[start] = UInt8(truncatingIfNeeded: length)
    bytes[start + 1] = UInt8(truncatingIfNeeded: length >> 8)
    while bytes.count % 4 != 0 { bytes.append(0) }
  }
}
