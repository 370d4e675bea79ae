import CReachLinux
import Glibc
import ReachCore
import Testing

@testable import ReachNetlink

/// The core against a scripted kernel in which anything happens in any order, with messages lost, readings interrupted
/// or refused. A seed that fails is had again by its number.
@Suite struct MonitorCoreModelTests {
  private struct Run {
    var random: Seeded
    var kernel = ScriptedKernel()
    var core = MonitorCore()
    var now = Instant(nanoseconds: 0)
    /// The table when handlers were last told.
    var told: [Int32: LinkAttributes] = [:]
    var buffer = [UInt8](repeating: 0, count: 4096)
    var changes = 0
    var faults: [String] = []

    init(seed: UInt64) {
      random = Seeded(state: seed &* 0x9e37_79b9_7f4a_7c15 | 1)
      kernel.capacity = 1 + random.next(below: 12)
      for _ in 0..<3 { happen() }
      perform(core.take(kernel.dump, from: now, to: now))
    }

    mutating func happen() {
      let names = ["eth0", "eth1", "wlan0", "br-1.100", "tun0"]
      let free = names.filter { name in !kernel.links.values.contains { $0.name == name } }
      let some = kernel.links.keys.sorted()
      guard !some.isEmpty else {
        kernel.create(names[random.next(below: names.count)])
        return
      }
      let index = some[random.next(below: some.count)]
      switch random.next(below: 9) {
      case 0: if let name = free.first { kernel.create(name) }
      case 1: kernel.delete(index)
      case 2:
        let name = kernel.links[index]?.name ?? ""
        kernel.delete(index)
        if !name.isEmpty { kernel.create(name) }
      case 3: if let name = free.last { kernel.change(index) { $0.name = name } }
      case 4: kernel.setCarrier(index, random.next(below: 2) == 0)
      case 5: kernel.flapSilently(index)
      case 6:
        let name = "alt\(index)"
        kernel.change(index) { $0.alternativeNames = $0.alternativeNames.isEmpty ? [name] : [] }
      case 7:
        if let link = kernel.links[index] {
          kernel.send(message(RTM_DELLINK, linkBody(link, family: UInt8(AF_BRIDGE))))
        }
      default: kernel.send(message(RTM_NEWADDR, addressBody([192, 0, 2, UInt8(index & 0x7f)], interface: index)))
      }
    }

    mutating func perform(_ step: MonitorCore.Step) {
      switch step {
      case .rest: break
      case .tell(let change):
        changes += 1
        if change.kinds.isEmpty { faults.append("told of nothing") }
        let different = core.table.links.filter { told[$0.key] != $0.value }.map(\.key)
        if !different.isEmpty, !change.kinds.contains(.link) { faults.append("links changed, \(change.kinds) told") }
        if !change.links.isEmpty, !Set(different).isSubset(of: change.links) { faults.append("\(different) not named") }
        told = core.table.links
      case .read:
        let start = now
        now = now.advanced(by: .milliseconds(Int64(random.next(below: 20))))
        switch random.next(below: 6) {
        case 0: perform(core.failRead(at: now))
        case 1:
          let part = kernel.dump.links.filter { _ in random.next(below: 2) == 0 }
          perform(core.take(LinkDump(links: part, isWhole: false), from: start, to: now))
        default: perform(core.take(kernel.dump, from: start, to: now))
        }
      }
    }

    mutating func drain() {
      core.beginBatch(at: now)
      receiving: while true {
        switch kernel.receive(into: &buffer) {
        case .datagram(let count):
          let bytes = buffer
          core.take(unsafe bytes.span.bytes.extracting(0..<count))
        case .nothing: break receiving
        default: core.noteLoss()
        }
      }
      perform(core.finishBatch(at: now))
      if told != core.table.links { faults.append("a change was not told") }
    }

    mutating func go() {
      for _ in 0..<random.next(below: 14) { happen() }
      now = now.advanced(by: .milliseconds(Int64(random.next(below: 400))))
      drain()
      perform(core.step(at: now))
    }

    /// Lets the world stand still until the core wants nothing any more.
    mutating func settle() {
      for _ in 0..<200 {
        drain()
        guard let due = core.nextRead else { return }
        now = max(now, due)
        perform(core.step(at: now))
      }
      faults.append("never at rest")
    }

    mutating func check() {
      if core.table.links != kernel.links { faults.append("the table is not the kernel's") }
      if told != kernel.links { faults.append("what was told is not the kernel's") }
      for link in kernel.links.values {
        for name in [link.name] + link.alternativeNames where core.table.link(named: name)?.index != link.index {
          faults.append("\(name) is not found")
        }
      }
    }
  }

  @Test("whatever happens, is lost or fails, in the end the table is the kernel's and every change was told")
  func follows() {
    var changes = 0
    var losses: UInt64 = 0
    for seed in 1...2_000 as ClosedRange<UInt64> {
      var run = Run(seed: seed)
      for _ in 0..<6 { run.go() }
      run.settle()
      run.check()
      changes += run.changes
      losses += run.core.counts.overruns
      #expect(run.faults.isEmpty, "seed \(seed)")
      if !run.faults.isEmpty { return }
    }
    #expect(changes > 2_000)
    #expect(losses > 1_000)
  }

  @Test("mutated, cut and foreign bytes among true messages never trap, and a reading puts everything right")
  func survivesGarbage() {
    for seed in 1...200 as ClosedRange<UInt64> {
      var run = Run(seed: seed)
      run.kernel.capacity = 1000
      for _ in 0..<40 {
        run.happen()
        var bytes = run.kernel.queue.last ?? [0]
        for _ in 0...run.random.next(below: 6) {
          bytes[run.random.next(below: bytes.count)] = UInt8(truncatingIfNeeded: run.random.next())
        }
        if run.random.next(below: 3) == 0 { bytes = Array(bytes.prefix(run.random.next(below: bytes.count))) }
        run.kernel.send(bytes)
      }
      run.core.noteLoss()
      run.settle()
      run.check()
      #expect(run.faults.isEmpty, "seed \(seed)")
      if !run.faults.isEmpty { return }
    }
  }
}
