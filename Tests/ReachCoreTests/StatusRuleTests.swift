internal import ReachCore
internal import Testing

@Suite struct StatusRuleTests {
  private func count(_ rule: StatusRule, _ status: Status) -> Int {
    everyCombination.count { rule.status(of: $0) == status }
  }

  @Test("Over all combinations of flags each rule divides as its origin does")
  func division() {
    let expected: [(StatusRule, notReachable: Int, wifi: Int, wwan: Int)] = [
      (.afnetworking, 336, 88, 88), (.apple, 296, 88, 128), (.localwifi, 384, 128, 0),
    ]
    for (rule, notReachable, wifi, wwan) in expected {
      #expect(count(rule, .notReachable) == notReachable)
      #expect(count(rule, .reachableViaWiFi) == wifi)
      #expect(count(rule, .reachableViaWWAN) == wwan)
      #expect(count(rule, .unknown) == 0)
    }
  }

  @Test("AFNetworking and Apple differ only where a cellular connection must be brought up by hand")
  func difference() {
    let differing = everyCombination.filter {
      StatusRule.afnetworking.status(of: $0) != StatusRule.apple.status(of: $0)
    }
    #expect(differing.count == 40)
    for flags in differing {
      #expect(flags.isSuperset(of: [.reachable, .isWWAN, .connectionRequired]))
      #expect(StatusRule.afnetworking.status(of: flags) == .notReachable)
      #expect(StatusRule.apple.status(of: flags) == .reachableViaWWAN)
    }
  }

  @Test("The rule of tonymillion's Reachability, which is not offered, differs from AFNetworking's on 64 combinations")
  func notOffered() {
    func isUp(_ flags: ReachabilityFlags) -> Bool {
      flags.contains(.reachable) && !flags.isSuperset(of: [.connectionRequired, .transientConnection])
    }
    #expect(everyCombination.count { isUp($0) } == 192)
    #expect(everyCombination.count { isUp($0) != StatusRule.afnetworking.status(of: $0).isReachable } == 64)
  }

  @Test("Storing Apple's status in a boolean, which is not done here, would call all cellular Wi-Fi")
  func booleanMistake() {
    let cellular = everyCombination.filter { StatusRule.apple.status(of: $0) == .reachableViaWWAN }
    #expect(cellular.count == 128)
    #expect(cellular.allSatisfy { $0.isSuperset(of: [.reachable, .isWWAN]) })
  }

  @Test("No rule reads l, none of the three reads t, and i without c changes nothing")
  func unread() {
    for rule in StatusRule.allCases {
      for flags in everyCombination {
        let status = rule.status(of: flags)
        #expect(rule.status(of: flags.union(.isLocalAddress)) == status)
        #expect(rule.status(of: flags.union(.transientConnection)) == status)
        if !flags.contains(.connectionRequired) {
          #expect(rule.status(of: flags.union(.interventionRequired)) == status)
        }
      }
    }
  }

  @Test("Absent flags are Unknown under every rule, and no flags are not", arguments: StatusRule.allCases)
  func absent(_ rule: StatusRule) {
    #expect(rule.status(of: nil) == .unknown)
    #expect(rule.status(of: []) == .notReachable)
  }

  @Test("The names are those users see")
  func names() {
    #expect(Status.allCases.map(\.rawValue) == ["Unknown", "NotReachable", "ReachableViaWWAN", "ReachableViaWiFi"])
    #expect(StatusRule.allCases.map(\.rawValue) == ["afnetworking", "apple", "localwifi"])
    #expect(Status.allCases.filter(\.isReachable) == [.reachableViaWWAN, .reachableViaWiFi])
  }
}
