import Testing

@testable import ReachAgent

@Suite struct DescriptorBudgetTests {
  @Test("the shares never come to more than the limit, from 64 descriptors on", arguments: [0, 1, 2, 4])
  func sum(listeners: Int) {
    for limit in Array(64...4_096) + [65_536, 1 << 20] {
      let budget = DescriptorBudget(limit: limit, open: 7, listeners: listeners)
      let endpoint = listeners * (budget.clientsPerListener + 2)
      let probes = budget.rounds + budget.connections + budget.keptSockets
      #expect(7 + DescriptorBudget.reserve + endpoint + probes <= limit, "\(limit) \(budget)")
      #expect(budget.rounds >= 4)
    }
  }

  @Test("of 64 descriptors, eight clients, twenty rounds and a few name servers have theirs")
  func low() {
    let budget = DescriptorBudget(limit: 64, open: 6, listeners: 1)
    #expect(budget.clientsPerListener == 8)
    #expect(budget.rounds >= 20)
    #expect(budget.connections >= 4)
    #expect(budget.keptSockets >= 4)
    #expect(!budget.isTight)
  }

  @Test("a limit that is too low for anything still lets one round run, and is known as tight")
  func tiny() {
    for limit in [-1, 0, 1, 16, 26] {
      let budget = DescriptorBudget(limit: limit, open: 6, listeners: 1)
      #expect(budget.rounds == 1)
      #expect(budget.clientsPerListener == 2)
      #expect(budget.isTight)
    }
  }

  @Test("no limit and no number of open descriptors or addresses overflows")
  func extremes() {
    let numbers = [Int.min, -1, 0, 1, 64, .max]
    for limit in numbers {
      for open in numbers {
        for listeners in numbers {
          let budget = DescriptorBudget(limit: limit, open: open, listeners: listeners)
          #expect(budget.rounds >= 1 && budget.rounds <= DescriptorBudget.mostRounds)
        }
      }
    }
  }
}
