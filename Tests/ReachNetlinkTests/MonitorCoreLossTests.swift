import CReachLinux
import Glibc
import ReachCore
import Synchronization
import Testing

@testable import ReachNetlink

/// Messages that are lost, and readings that fail.
@Suite struct MonitorCoreLossTests {
  private let start = Instant(nanoseconds: 1_000_000_000)
  private func later(_ milliseconds: Int64) -> Instant { start.advanced(by: .milliseconds(milliseconds)) }

  private func link(_ index: Int32, _ name: String) -> LinkAttributes {
    LinkAttributes(index: index, name: name, flags: 1, hardwareType: 1)
  }

  /// A core that knows eth0, the 2nd, and eth1, the 3rd.
  private func known() -> MonitorCore {
    var core = MonitorCore()
    _ = core.take(LinkDump(links: [link(2, "eth0"), link(3, "eth1")]), from: start, to: start)
    return core
  }

  private func lose(_ core: inout MonitorCore, with messages: [[UInt8]] = [], at now: Instant) -> MonitorCore.Step {
    core.beginBatch(at: now)
    for bytes in messages { core.take(unsafe bytes.span.bytes) }
    core.noteLoss()
    return core.finishBatch(at: now)
  }

  @Test("after a loss everything is read, and one change tells of the batch, the differences and the time it took")
  func readsAnew() {
    var core = known()
    let route = message(RTM_NEWROUTE, [2, 0, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0])
    #expect(lose(&core, with: [route], at: later(200)) == .read)
    let step = core.take(LinkDump(links: [link(3, "eth1"), link(4, "eth0")]), from: later(200), to: later(207))
    #expect(
      step
        == .tell(
          NetworkChange(
            kinds: [.link, .route, .resync], links: [2, 4], receivedAt: later(200),
            resyncDuration: .milliseconds(7))))
    #expect(core.nextRead == nil)
    #expect(core.table.link(named: "eth0")?.index == 4)
    #expect(core.counts.overruns == 1)
    #expect(core.counts.resyncs == 1)
  }

  @Test("a loss that cost nothing is told all the same: routes may have changed")
  func tellsWithoutDifference() {
    var core = known()
    #expect(lose(&core, at: later(200)) == .read)
    let step = core.take(LinkDump(links: [link(2, "eth0"), link(3, "eth1")]), from: later(200), to: later(201))
    #expect(
      step
        == .tell(NetworkChange(kinds: .resync, receivedAt: later(200), resyncDuration: .milliseconds(1))))
  }

  @Test("a reading that fails is told of at once as a loss, and tried again until it succeeds")
  func retries() {
    var core = known()
    #expect(lose(&core, at: later(200)) == .read)
    #expect(core.failRead(at: later(201)) == .tell(NetworkChange(kinds: .resync, receivedAt: later(200))))
    #expect(core.nextRead == later(1201))
    #expect(core.step(at: later(1200)) == .rest)
    #expect(core.step(at: later(1201)) == .read)
    #expect(core.failRead(at: later(1202)) == .rest)
    #expect(core.nextRead == later(2202))
    let step = core.take(LinkDump(links: [link(2, "eth0")]), from: later(2202), to: later(2204))
    #expect(
      step
        == .tell(
          NetworkChange(
            kinds: [.link, .resync], links: [3], receivedAt: later(2202), resyncDuration: .milliseconds(2))))
    #expect(core.counts.failedResyncs == 2)
    #expect(core.counts.resyncs == 1)
  }

  @Test("losses that follow one another closely are told at once and read for together")
  func spacesReadings() {
    var core = known()
    #expect(lose(&core, at: later(200)) == .read)
    _ = core.take(LinkDump(links: [link(2, "eth0")]), from: later(200), to: later(205))
    #expect(lose(&core, at: later(220)) == .tell(NetworkChange(kinds: .resync, receivedAt: later(220))))
    #expect(core.nextRead == later(305))
    #expect(lose(&core, at: later(260)) == .tell(NetworkChange(kinds: .resync, receivedAt: later(260))))
    #expect(core.nextRead == later(305))
    #expect(core.step(at: later(305)) == .read)
    #expect(core.counts.overruns == 3)
  }

  @Test("of a reading that was interrupted what it has is believed and nothing is removed, until a whole one follows")
  func believesParts() {
    var core = known()
    #expect(lose(&core, at: later(200)) == .read)
    let part = core.take(
      LinkDump(links: [link(3, "uplink"), link(4, "eth2")], isWhole: false), from: later(200), to: later(210))
    #expect(part == .tell(NetworkChange(kinds: [.link, .resync], links: [3, 4], receivedAt: later(200))))
    #expect(core.table.links.keys.sorted() == [2, 3, 4])
    #expect(core.nextRead == later(1210))
    let whole = core.take(LinkDump(links: [link(3, "uplink"), link(4, "eth2")]), from: later(1210), to: later(1211))
    #expect(
      whole
        == .tell(
          NetworkChange(
            kinds: [.link, .resync], links: [2], receivedAt: later(1210), resyncDuration: .milliseconds(1))))
    #expect(core.nextRead == nil)
  }

  @Test("the first reading may be a part too, and the rest is no loss")
  func startsWithPart() {
    var core = MonitorCore()
    _ = core.take(LinkDump(links: [link(2, "eth0")], isWhole: false), from: start, to: start)
    #expect(core.nextRead == later(1000))
    let step = core.take(LinkDump(links: [link(2, "eth0"), link(3, "eth1")]), from: later(1000), to: later(1001))
    #expect(step == .tell(NetworkChange(kinds: .link, links: [3], receivedAt: later(1000))))
    #expect(core.counts.overruns == 0)
  }

  @Test("what an interface looks like now shows the flap that was lost")
  func findsLostFlaps() {
    var core = known()
    #expect(lose(&core, at: later(200)) == .read)
    var flapped = link(2, "eth0")
    flapped.carrierChanges = 2
    let step = core.take(LinkDump(links: [flapped, link(3, "eth1")]), from: later(200), to: later(200))
    guard case .tell(let change) = step else {
      Issue.record("\(step)")
      return
    }
    #expect(change.kinds == [.link, .flap, .resync])
    #expect(change.links == [2])
  }

  @Test("a message that says of itself that data were lost is a loss")
  func believesOverrunMessages() {
    var core = known()
    core.beginBatch(at: later(200))
    let bytes = message(Int(NLMSG_OVERRUN), [])
    core.take(unsafe bytes.span.bytes)
    #expect(core.finishBatch(at: later(200)) == .read)
  }
}

/// The names that were asked for.
final class Names: Sendable {
  private let names = Mutex<[String]>([])
  var all: [String] { names.withLock { $0 } }
  func note(_ name: String) { names.withLock { $0.append(name) } }
}
