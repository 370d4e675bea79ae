import ReachCore
import Synchronization
import Testing

@testable import ReachIO

@Suite struct TimerHeapTests {
  @Test("timers fire by due time, and those of one instant in the order they were set")
  func order() {
    let fired = Mutex<[Int]>([])
    var heap = TimerHeap()
    for (number, due) in [30, 10, 20, 10, 30, 10].enumerated() {
      _ = heap.schedule(at: Instant(nanoseconds: Int64(due))) { fired.withLock { $0.append(number) } }
    }
    #expect(heap.next == Instant(nanoseconds: 10))
    while let handler = heap.popDue(at: Instant(nanoseconds: 25)) { handler() }
    #expect(fired.withLock { $0 } == [1, 3, 5, 2])
    #expect(heap.count == 2)
    while let handler = heap.popDue(at: .distantFuture) { handler() }
    #expect(fired.withLock { $0 } == [1, 3, 5, 2, 0, 4])
    #expect(heap.next == nil)
  }

  @Test("a timer is taken back once, and its name never names the next one in its place")
  func cancel() {
    var heap = TimerHeap()
    let first = heap.schedule(at: Instant(nanoseconds: 1)) {}
    #expect(cancelled(first, in: &heap))
    #expect(cancelled(first, in: &heap) == false)
    let second = heap.schedule(at: Instant(nanoseconds: 1)) {}
    #expect(first != second)
    #expect(cancelled(first, in: &heap) == false)
    #expect(heap.count == 1)
    #expect(pops(&heap, Instant(nanoseconds: 1)))
    #expect(cancelled(second, in: &heap) == false)
  }

  @Test("the ends of time are due times like others")
  func extremes() {
    var heap = TimerHeap()
    _ = heap.schedule(at: .distantFuture) {}
    _ = heap.schedule(at: Instant(nanoseconds: .min)) {}
    #expect(heap.next == Instant(nanoseconds: .min))
    #expect(pops(&heap, Instant(nanoseconds: .min)))
    #expect(pops(&heap, Instant(nanoseconds: .max - 1)) == false)
    #expect(pops(&heap, .distantFuture))
  }

  @Test("popping stops at a timer that was set after the popping began")
  func setMeanwhile() {
    var heap = TimerHeap()
    _ = heap.schedule(at: Instant(nanoseconds: 5)) {}
    let newest = heap.newest
    _ = heap.schedule(at: Instant(nanoseconds: 1)) {}
    #expect(pops(&heap, Instant(nanoseconds: 9), newest) == false)
    #expect(pops(&heap, Instant(nanoseconds: 9)))
    #expect(pops(&heap, Instant(nanoseconds: 9), newest))
  }

  @Test("thousands of random steps agree with a sorted array", arguments: [1, 2, 3] as [UInt64])
  func model(seed: UInt64) {
    var random = SplitMix(state: seed)
    var heap = TimerHeap()
    var model: [(due: Int64, number: Int, id: TimerID)] = []
    var retired: [TimerID] = []
    let fired = Mutex<[Int]>([])
    for number in 0..<4_000 {
      switch random.next() % 5 {
      case 0, 1, 2:
        let due = Int64(random.next() % 500)
        let id = heap.schedule(at: Instant(nanoseconds: due)) { fired.withLock { $0.append(number) } }
        let place = model.firstIndex { $0.due > due } ?? model.count
        model.insert((due, number, id), at: place)
      case 3:
        guard !model.isEmpty else { continue }
        let victim = model.remove(at: Int(random.next() % UInt64(model.count)))
        #expect(cancelled(victim.id, in: &heap))
        retired.append(victim.id)
      default:
        let now = Instant(nanoseconds: Int64(random.next() % 300))
        var expected: [Int] = []
        while let first = model.first, first.due <= now.nanoseconds {
          expected.append(first.number)
          retired.append(model.removeFirst().id)
        }
        fired.withLock { $0.removeAll() }
        while let handler = heap.popDue(at: now) { handler() }
        #expect(fired.withLock { $0 } == expected)
      }
      #expect(heap.count == model.count)
      #expect(heap.next?.nanoseconds == model.first?.due)
    }
    for id in retired { #expect(cancelled(id, in: &heap) == false) }
  }
}

// What #expect cannot call by itself, since it changes the heap.
private func cancelled(_ id: TimerID, in heap: inout TimerHeap) -> Bool { heap.cancel(id) }

private func pops(_ heap: inout TimerHeap, _ now: Instant, _ newest: UInt64 = .max) -> Bool {
  heap.popDue(at: now, setUpTo: newest) != nil
}

/// SplitMix64, so that a failing seed fails again.
private struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
