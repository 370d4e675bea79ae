import ReachCore
import Testing

@testable import DNSProbe

@Suite struct AnswerCacheTests {
  static let start = Instant(nanoseconds: 1_000_000_000)

  static func key(_ name: String) -> AnswerCache.Key {
    AnswerCache.Key(name: name, usesSearchList: false, source: SourceBinding())
  }

  static func entry(ttl: Duration, isPartial: Bool = false, at: Instant = start) -> AnswerCache.Entry {
    AnswerCache.Entry(
      addresses: [IPAddress(ipv4: 1)], ipv4: .resolved, ipv6: nil, ttl: ttl, storedAt: at, generation: 0,
      isPartial: isPartial)
  }

  static func policy() -> TargetPolicy {
    var policy = TargetPolicy()
    policy.resolveMin = .seconds(5)
    policy.resolveMax = .seconds(300)
    return policy
  }

  @Test(
    "an answer holds for its TTL, within the floor and the ceiling of the target",
    arguments: [(0, 5), (60, 60), (86_400, 300)])
  func clamps(ttl: Int64, expected: Int64) {
    var cache = AnswerCache(capacity: 8)
    cache.store(Self.entry(ttl: .seconds(ttl)), for: Self.key("a"))
    let end = Self.start.advanced(by: .seconds(expected))
    let before = cache.fresh(
      Self.key("a"), at: end.advanced(byNanoseconds: -1), generation: 0, policy: Self.policy())
    #expect(before != nil)
    #expect(cache.fresh(Self.key("a"), at: end, generation: 0, policy: Self.policy()) == nil)
  }

  @Test("an answer that lacks a family holds for the floor only")
  func partial() {
    var cache = AnswerCache(capacity: 8)
    cache.store(Self.entry(ttl: .seconds(60), isPartial: true), for: Self.key("a"))
    let later = Self.start.advanced(by: .seconds(5))
    #expect(cache.fresh(Self.key("a"), at: later, generation: 0, policy: Self.policy()) == nil)
  }

  @Test("an answer from before a change of the resolver's configuration is not used again, but can stand in")
  func generations() {
    var cache = AnswerCache(capacity: 8)
    cache.store(Self.entry(ttl: .seconds(60)), for: Self.key("a"))
    #expect(cache.fresh(Self.key("a"), at: Self.start, generation: 1, policy: Self.policy()) == nil)
    #expect(cache.stale(Self.key("a"), at: Self.start) != nil)
  }

  @Test("an answer can stand in for a day past its time, and no longer")
  func stale() {
    var cache = AnswerCache(capacity: 8)
    cache.store(Self.entry(ttl: .seconds(60)), for: Self.key("a"))
    let end = Self.start.advanced(by: .seconds(86_460))
    #expect(cache.stale(Self.key("a"), at: end.advanced(byNanoseconds: -1)) != nil)
    #expect(cache.stale(Self.key("a"), at: end) == nil)
  }

  @Test("a full cache lets go of its oldest answers")
  func bounded() {
    var cache = AnswerCache(capacity: 16)
    for number in 0..<100 {
      let time = Self.start.advanced(by: .seconds(Int64(number)))
      cache.store(Self.entry(ttl: .seconds(60), at: time), for: Self.key("name\(number)"))
      #expect(cache.count <= 16)
    }
    let end = Self.start.advanced(by: .seconds(100))
    #expect(cache.stale(Self.key("name99"), at: end) != nil)
    #expect(cache.stale(Self.key("name0"), at: end) == nil)
  }

  @Test("what is asked with another search rule or source is another question")
  func keys() {
    var cache = AnswerCache(capacity: 8)
    cache.store(Self.entry(ttl: .seconds(60)), for: Self.key("a"))
    let bound = AnswerCache.Key(name: "a", usesSearchList: false, source: SourceBinding(interface: "eth1"))
    let searched = AnswerCache.Key(name: "a", usesSearchList: true, source: SourceBinding())
    #expect(cache.stale(bound, at: Self.start) == nil)
    #expect(cache.stale(searched, at: Self.start) == nil)
  }
}
