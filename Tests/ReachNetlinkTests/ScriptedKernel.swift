import CReachLinux
import Glibc
import ReachCore
import ReachIO
import Synchronization

@testable import ReachNetlink

/// The interfaces of a kernel that exists on paper only: what changes in it becomes messages as rtnetlink(7) sends them,
/// which wait in a queue of a given length and are lost beyond it.
struct ScriptedKernel {
  private(set) var links: [Int32: LinkAttributes] = [:]
  private(set) var queue: [[UInt8]] = []
  private(set) var hasLost = false
  private(set) var lastIndex: Int32 = 0
  var capacity = Int.max

  // MARK: What happens in it

  @discardableResult
  mutating func create(_ name: String) -> Int32 {
    lastIndex += 1
    var link = LinkAttributes(index: lastIndex, name: name, flags: UInt32(IFF_BROADCAST.rawValue), hardwareType: 1)
    link.operState = .down
    link.hardwareAddress = [2, 0, 0, 0, 0, UInt8(truncatingIfNeeded: lastIndex)]
    link.mtu = 1500
    links[lastIndex] = link
    send(message(RTM_NEWLINK, body(of: link)))
    return lastIndex
  }

  mutating func delete(_ index: Int32) {
    guard let link = links.removeValue(forKey: index) else { return }
    send(message(RTM_DELLINK, body(of: link)))
  }

  /// Changes an interface and sends the message of it.
  mutating func change(_ index: Int32, _ body: (inout LinkAttributes) -> Void) {
    guard var link = links[index] else { return }
    body(&link)
    links[index] = link
    send(message(RTM_NEWLINK, self.body(of: link)))
  }

  /// Sets an interface up with a carrier, or takes the carrier away; each counts.
  mutating func setCarrier(_ index: Int32, _ isThere: Bool) {
    change(index) { $0.carry(isThere) }
  }

  /// The carrier goes and comes back before any message is sent of it, as the kernel's link watch does it.
  mutating func flapSilently(_ index: Int32) { change(index) { $0.carrierChanges &+= 2 } }

  /// Any message.
  mutating func send(_ bytes: [UInt8]) {
    if queue.count < capacity { queue.append(bytes) } else { hasLost = true }
  }

  // MARK: What is read from it

  /// Takes what waits, as recvfrom(2) does: the loss is told first.
  mutating func receive(into buffer: inout [UInt8]) -> NetlinkSocket.Received {
    if hasLost {
      hasLost = false
      return .failed(FaultCode(errno: ENOBUFS))
    }
    guard !queue.isEmpty else { return .nothing }
    let bytes = queue.removeFirst()
    guard bytes.count <= buffer.count else { return .truncated(bytes.count) }
    buffer.replaceSubrange(0..<bytes.count, with: bytes)
    return .datagram(bytes.count)
  }

  /// All interfaces.
  var dump: LinkDump { LinkDump(links: links.values.sorted { $0.index < $1.index }) }

  private func body(of link: LinkAttributes) -> [UInt8] { linkBody(link) }
}

extension LinkAttributes {
  mutating func carry(_ isThere: Bool) {
    flags = isThere ? flags | 0x1_0041 : (flags | 0x1) & ~0x1_0040
    operState = isThere ? .up : .down
    hasCarrier = isThere
    carrierChanges &+= 1
  }
}

/// An ifinfomsg and the attributes that describe the interface.
func linkBody(_ link: LinkAttributes, family: UInt8 = 0) -> [UInt8] {
  var bytes: [UInt8] = [family, 0] + u16(link.hardwareType) + u32(UInt32(bitPattern: link.index)) + u32(link.flags)
  bytes += u32(0xffff_ffff) + attribute(IFLA_IFNAME, text(link.name))
  bytes += attribute(IFLA_OPERSTATE, [link.operState.rawValue]) + attribute(IFLA_LINKMODE, [link.linkMode])
  bytes += attribute(IFLA_MTU, u32(link.mtu)) + attribute(IFLA_CARRIER_CHANGES, u32(link.carrierChanges))
  if let carrier = link.hasCarrier { bytes += attribute(IFLA_CARRIER, [carrier ? 1 : 0]) }
  if !link.hardwareAddress.isEmpty { bytes += attribute(IFLA_ADDRESS, link.hardwareAddress) }
  if link.masterIndex != 0 { bytes += attribute(IFLA_MASTER, u32(UInt32(bitPattern: link.masterIndex))) }
  let names = link.alternativeNames.flatMap { attribute(IFLA_ALT_IFNAME, text($0)) }
  return names.isEmpty ? bytes : bytes + attribute(IFLA_PROP_LIST | 0x8000, names)
}

/// An ifaddrmsg of an IPv4 address, with a lifetime in its IFA_CACHEINFO.
func addressBody(_ octets: [UInt8], interface: Int32, flags: UInt32 = 0x80, lifetime: UInt32 = 600) -> [UInt8] {
  [2, 24, UInt8(flags & 0xff), 0] + u32(UInt32(bitPattern: interface)) + attribute(IFA_ADDRESS, octets)
    + attribute(IFA_LOCAL, octets) + attribute(IFA_FLAGS, u32(flags))
    + attribute(IFA_CACHEINFO, u32(lifetime) + u32(lifetime) + u32(1) + u32(1))
}

/// A scripted kernel in the place of a monitor's sockets.
final class ScriptedSource: MonitorSource {
  let kernel = Mutex(ScriptedKernel())
  /// What the next readings come to, in order; then they are whole.
  let readings = Mutex<[Reading]>([])
  let readCount = Mutex(0)

  enum Reading {
    case failed(Int32)
    case interrupted
  }

  func receive(into buffer: inout [UInt8]) -> NetlinkSocket.Received {
    kernel.withLock { $0.receive(into: &buffer) }
  }

  func readLinks() throws(SystemError) -> LinkDump {
    readCount.withLock { $0 += 1 }
    let dump = kernel.withLock { $0.dump }
    switch readings.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
    case .failed(let code): throw SystemError("recvfrom", FaultCode(errno: code))
    case .interrupted: return LinkDump(links: dump.links.filter { $0.index % 2 == 0 }, isWhole: false)
    case nil: return dump
    }
  }
}
