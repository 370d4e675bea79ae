internal import ReachAggregator
internal import ReachCore
internal import Testing

@Suite struct CauseLedgerTests {
  // MARK: Direct causes

  @Test("A sweep that finds five targets without their link announces one cause, which names all five")
  func oneSweep() {
    var story = CauseStory()
    for key in 0..<5 { story.down(key, .lost("eth0", isPathOnly: true)) }
    let ids = Set((0..<5).compactMap { story.ledger.causeID(of: $0) })
    #expect(ids.count == 1)
    story.endSweep()
    #expect(story.announced == [CauseStory.Told("link:eth0", [0, 1, 2, 3, 4], id: ids.first)])
    #expect(story.assigned == [0: "link:eth0", 1: "link:eth0", 2: "link:eth0", 3: "link:eth0", 4: "link:eth0"])
    story.pass(5)
    for key in 0..<5 { story.up(key, .usable("eth0", isPathOnly: true)) }
    story.endSweep()
    #expect(story.cleared == [CauseStory.Told("link:eth0", [0, 1, 2, 3, 4], id: ids.first)])
    #expect(story.lasted == [.seconds(5)])
    #expect(story.assigned.isEmpty)
  }

  @Test("A link that comes and goes within one sweep is one fault that ended and another that began")
  func flapWithinSweep() {
    var story = CauseStory()
    for key in 0..<3 { story.down(key, .lost("eth0", isPathOnly: true)) }
    story.endSweep()
    story.pass(1)
    story.up(0, .usable("eth0", isPathOnly: true))
    for key in 1..<3 { story.down(key, .lost("eth0", isPathOnly: true)) }
    story.endSweep()
    #expect(story.announced.map(\.targets) == [[0, 1, 2], [1, 2]])
    #expect(story.cleared.map(\.id) == story.announced.prefix(1).map(\.id))
    #expect(Set(story.announced.map(\.id)).count == 2)
    #expect(story.assigned == [1: "link:eth0", 2: "link:eth0"])
  }

  @Test("A failure that nobody shares has an identifier and is not announced")
  func alone() {
    var story = CauseStory()
    story.down(3, .lost("eth0"))
    #expect(story.ledger.causeID(of: 3) != nil)
    story.pass(60)
    #expect(story.told.isEmpty && story.assigned.isEmpty)
    story.up(3, .usable("eth0"))
    #expect(story.told.isEmpty)
    #expect(story.ledger.causeID(of: 3) == nil)
  }

  @Test("Outside a sweep a cause is announced a moment after it holds, with those that joined meanwhile")
  func gathering() {
    var story = CauseStory()
    story.down(0, .neighbour("192.0.2.1"))
    story.pass(5)
    story.down(1, .neighbour("192.0.2.1"))
    story.pass(0.5)
    story.down(2, .neighbour("192.0.2.1"))
    #expect(story.announced.isEmpty)
    story.pass(0.9)
    #expect(story.announced.isEmpty)
    story.pass(0.2)
    #expect(story.announced.map(\.targets) == [[0, 1, 2]])
    story.down(3, .neighbour("192.0.2.1"))
    story.pass(5)
    #expect(story.announced.count == 1 && story.assigned[3] == "gateway:192.0.2.1")
    story.up(1, .answered("192.0.2.1"))
    #expect(story.cleared.map(\.targets) == [[0, 1, 2, 3]])
    #expect(story.assigned.isEmpty)
  }

  @Test("A cause that goes on finding targets is announced all the same")
  func endlessGathering() {
    var story = CauseStory()
    for key in 0..<20 {
      story.down(key, .neighbour("192.0.2.1"))
      story.pass(0.5)
    }
    #expect(story.announced.map(\.targets.count) == [11])
    #expect(story.assigned.count == 20)
  }

  @Test("The reason that is told is the nearest layer's, whichever came first")
  func nearestReason() {
    var story = CauseStory()
    story.down(0, CauseEvidence(blame: CauseEvidence.Blame(.link("eth0"), .noRoute, isDirect: true)))
    story.down(1, .lost("eth0"))
    story.pass(2)
    #expect(story.reasons == [.carrierLost])
  }

  @Test("Routes that are lost together have one cause, routes lost at different times have none")
  func routes() {
    var story = CauseStory()
    for key in 0..<3 { story.down(key, .unroutable(.noRoute)) }
    story.endSweep()
    #expect(story.announced.map(\.targets) == [[0, 1, 2]])
    story.pass(60)
    story.down(7, .unroutable(.noRoute))
    #expect(story.ledger.causeID(of: 7) != story.ledger.causeID(of: 0))
    story.pass(60)
    story.down(8, .unroutable(.noRoute))
    story.endSweep()
    #expect(story.announced.count == 1)
    for key in 0..<3 { story.up(key, CauseEvidence()) }
    #expect(story.cleared.map(\.targets) == [[0, 1, 2]])
  }

  @Test("A target that fails for something else moves: the cause without its route is its link, then its routes")
  func moves() {
    var story = CauseStory()
    for key in 0..<2 { story.down(key, .lost("eth0")) }
    story.endSweep()
    let first = story.ledger.causeID(of: 0)
    story.pass(3)
    for key in 0..<2 { story.down(key, .unroutable(.noRoute)) }
    story.endSweep()
    #expect(story.cleared.map(\.cause) == ["link:eth0"])
    #expect(story.announced.map(\.cause) == ["link:eth0", "route:no_route"])
    #expect(story.ledger.causeID(of: 0) != first)
    #expect(story.assigned == [0: "route:no_route", 1: "route:no_route"])
  }

  @Test("A cause that loses all targets but one goes on until that one is back")
  func lastOne() {
    var story = CauseStory()
    for key in 0..<2 { story.down(key, .lost("eth0")) }
    story.endSweep()
    story.up(0, .usable("eth1"))
    #expect(story.cleared.isEmpty)
    story.up(1, .usable("eth1"))
    #expect(story.cleared.map(\.targets) == [[0, 1]])
  }

  @Test("A target that is removed leaves the cause and its account")
  func removal() {
    var story = CauseStory()
    for key in 0..<3 { story.down(key, .lost("eth0")) }
    story.endSweep()
    story.ledger.remove(1)
    story.ledger.remove(17)
    story.settle()
    story.pass(1)
    story.up(0, .usable("eth0"))
    #expect(story.cleared.map(\.targets) == [[0, 2]])
  }

  // MARK: Suspected causes

  private let way = "192.0.2.1"

  @Test("A gateway is named once everybody behind it has been asked again and nobody has got an answer")
  func silentGateway() {
    var story = CauseStory()
    for key in 0..<4 { story.up(key, .answered(way)) }
    story.pass(10)
    for key in 0..<3 { story.down(key, .silent(way)) }
    story.pass(10)
    #expect(story.announced.isEmpty, "the fourth has not been asked again")
    story.down(3, .silent(way))
    story.pass(1)
    #expect(story.announced.map(\.targets) == [[0, 1, 2, 3]])
    #expect(Set((0..<4).map { story.ledger.causeID(of: $0) }).count == 1)
  }

  @Test("Two dead services of four behind a gateway are no fault of the gateway, and have nothing in common")
  func twoOfFour() {
    var story = CauseStory()
    for round in 0..<20 {
      for key in 0..<4 {
        if key < 2, round >= key + 3 { story.down(key, .silent(way)) } else { story.up(key, .answered(way)) }
        story.pass(0.5)
      }
    }
    #expect(story.told.isEmpty && story.assigned.isEmpty)
    #expect(story.ids[0] != story.ids[1])
  }

  @Test("A refused connection is an answer: it speaks for the gateway")
  func refusal() {
    var story = CauseStory()
    for key in 0..<2 { story.down(key, .silent(way)) }
    story.down(2, .answered(way))
    story.pass(10)
    #expect(story.told.isEmpty)
  }

  @Test("A failure that is not published yet does not speak for the gateway, and fails for nothing")
  func tentative() {
    var story = CauseStory()
    story.up(2, .answered(way))
    story.pass(1)
    for key in 0..<2 { story.down(key, .silent(way)) }
    story.up(2, .silent(way))
    story.pass(2)
    #expect(story.announced.map(\.targets) == [[0, 1]])
    story.down(2, .silent(way))
    #expect(story.assigned.count == 3)
  }

  @Test("Of a target that has become Unknown nothing is waited for; one whose status is held is")
  func unknown() {
    var story = CauseStory()
    for key in 0..<3 { story.up(key, .answered(way)) }
    story.pass(1)
    for key in 0..<2 { story.down(key, .silent(way)) }
    story.note(2, .reachableViaWiFi, nil)
    story.pass(10)
    #expect(story.announced.isEmpty)
    story.note(2, .unknown, nil)
    story.pass(2)
    #expect(story.announced.map(\.targets) == [[0, 1]])
  }

  @Test("One answer clears a suspected cause; what is silent after that is another fault")
  func recovery() {
    var story = CauseStory()
    for key in 0..<3 { story.down(key, .silent(way)) }
    story.pass(2)
    let first = story.ids[0]
    story.up(0, .answered(way))
    #expect(story.cleared.count == 1 && story.assigned.isEmpty)
    story.pass(10)
    for key in 0..<3 { story.down(key, .silent(way)) }
    story.pass(2)
    #expect(story.announced.count == 2 && story.ledger.causeID(of: 0) != first)
  }

  @Test("An answer in a round that began before a failure was seen does not acquit of that failure, but is waited for")
  func overlap() {
    var story = CauseStory()
    story.down(0, .silent(way))
    story.down(1, .silent(way))
    let id = story.ledger.causeID(of: 0)
    story.note(2, .reachableViaWiFi, .answered(way), began: -1)
    #expect(story.ledger.causeID(of: 0) == id)
    story.pass(10)
    #expect(story.announced.isEmpty)
    story.down(2, .silent(way))
    story.pass(2)
    #expect(story.announced.map(\.targets) == [[0, 1, 2]])
  }

  @Test("A look at the path alone neither acquits nor accuses a gateway, and a way by another one is another matter")
  func pathLook() {
    var story = CauseStory()
    for key in 0..<2 { story.down(key, .silent(way)) }
    story.pass(2)
    #expect(story.announced.count == 1)
    let look = CauseEvidence(gateway: .gateway(way), gatewayWord: .works, usableInterface: "eth0", isPathOnly: true)
    story.down(0, look)
    story.endSweep()
    #expect(story.cleared.isEmpty && story.assigned.count == 2)
    let other = CauseEvidence(gateway: .gateway("192.0.2.2"), gatewayWord: .silent, isPathOnly: true)
    story.down(0, other)
    story.endSweep()
    #expect(story.assigned == [1: "gateway:192.0.2.1"])
  }

  // MARK: Resolvers

  @Test("A resolver is named when every name it is asked for fails, and not for two broken names of three")
  func resolver() {
    var story = CauseStory()
    for key in 0..<2 { story.down(key, .unresolved("198.51.100.53", .dnsServFail)) }
    story.up(2, .resolved("198.51.100.53"))
    story.pass(10)
    #expect(story.told.isEmpty)
    for key in 0..<3 { story.down(key, .unresolved("198.51.100.53", .dnsTimeout)) }
    story.pass(2)
    #expect(story.announced.map(\.cause) == ["resolver:198.51.100.53"])
  }

  @Test("A second resolver that answers others speaks for those whose failure it confirmed")
  func secondResolver() {
    var story = CauseStory()
    story.up(2, .resolved("198.51.100.54"))
    story.pass(1)
    for key in 0..<2 { story.down(key, .unresolved("198.51.100.53", "198.51.100.54", .dnsServFail)) }
    story.up(2, .resolved("198.51.100.54"))
    story.pass(10)
    #expect(story.told.isEmpty)
  }

  @Test("A closed port needs no other witness")
  func closedPort() {
    var story = CauseStory()
    story.up(2, .resolved("198.51.100.53"))
    story.pass(1)
    for key in 0..<2 { story.down(key, .unresolved("198.51.100.53", .dnsUnreachable)) }
    story.pass(2)
    #expect(story.announced.map(\.targets) == [[0, 1]])
  }

  @Test("A resolver that is silent behind a silent gateway is that gateway's, under one identifier")
  func resolverBehindGateway() {
    for order in [[0, 1, 2, 3], [2, 3, 0, 1], [0, 2, 1, 3]] {
      var story = CauseStory()
      for key in 0..<4 { story.up(key, key < 2 ? .resolved("198.51.100.53") : .answered(way)) }
      story.pass(5)
      for key in order {
        story.down(key, key < 2 ? .unresolved("198.51.100.53", .dnsTimeout, behind: way) : .silent(way))
        story.pass(0.2)
      }
      story.pass(2)
      #expect(story.announced.map(\.cause) == ["gateway:192.0.2.1"])
      #expect(story.announced.first?.targets == [0, 1, 2, 3])
      #expect(Set(story.ids.values).count == 1)
      story.up(3, .answered(way))
      #expect(story.cleared.count == 1 && story.assigned.isEmpty)
    }
  }

  @Test("A resolver that is silent behind a gateway in order is named once the gateway has been seen to work")
  func resolverBehindWorkingGateway() {
    var story = CauseStory()
    story.up(2, .answered(way))
    story.pass(5)
    for key in 0..<2 { story.down(key, .unresolved("198.51.100.53", .dnsTimeout, behind: way)) }
    story.pass(5)
    #expect(story.announced.isEmpty)
    story.up(2, .answered(way))
    story.pass(2)
    #expect(story.announced.map(\.cause) == ["resolver:198.51.100.53"])
  }

  @Test("A silent resolver behind a gateway that nothing else is known of is the one that is named")
  func resolverAlone() {
    var story = CauseStory()
    for key in 0..<2 { story.down(key, .unresolved("198.51.100.53", .dnsTimeout, behind: way)) }
    story.down(2, .silent(way))
    story.pass(5)
    #expect(story.announced.map(\.cause) == ["resolver:198.51.100.53"])
    #expect(story.assigned.keys.sorted() == [0, 1])
    // Should the gateway turn out to be at fault after all, that is another fault, and takes the resolver over.
    story.down(3, .silent(way))
    story.pass(2)
    #expect(story.announced.map(\.cause) == ["resolver:198.51.100.53", "gateway:192.0.2.1"])
    #expect(Set(story.announced.map(\.id)).count == 2)
    for key in 0..<2 { story.down(key, .unresolved("198.51.100.53", .dnsTimeout, behind: way)) }
    #expect(story.cleared.map(\.cause) == ["resolver:198.51.100.53"])
    #expect(Set(story.assigned.values) == ["gateway:192.0.2.1"] && story.assigned.count == 4)
  }

  @Test("Two runs of the agent give no fault the same identifier")
  func runs() {
    var ids: Set<String> = []
    for run in 1...50 {
      var ledger = CauseLedger(run: UInt64(run) &* 0x9e37_79b9_7f4a_7c15)
      ledger.note(0, .notReachable, .lost("eth0"), began: Instant(nanoseconds: 0), at: Instant(nanoseconds: 0))
      ids.insert(ledger.causeID(of: 0) ?? "")
    }
    #expect(ids.count == 50 && ids.allSatisfy { $0.utf8.count < 12 })
  }
}
