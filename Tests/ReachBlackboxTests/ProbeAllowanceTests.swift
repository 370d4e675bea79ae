import ReachBlackbox
import ReachConfig
import ReachCore
import ReachTestSupport
import Testing

@Suite struct ProbeAllowanceTests {
  private static let policy = TargetPolicy()

  private static func allowance(_ rules: [String] = [], declared: [String] = []) throws -> ProbeAllowance {
    ProbeAllowance(
      rules: try rules.map { try AllowRule(parsing: $0) },
      declared: try declared.map { try Target(probing: $0, policy: policy) })
  }

  private static func isAllowed(_ text: String, _ allowance: ProbeAllowance) throws -> Bool {
    let target = try Target(probing: text, policy: policy)
    return (try? allowance.grant(target, port: target.port)) != nil
  }

  @Test("without a rule only what is declared may be probed, at the port it is declared with")
  func declared() throws {
    let allowance = try Self.allowance(declared: ["db.example:5432", "192.0.2.1", "[2001:db8::1]:443", "127.0.0.1:80"])
    for text in [
      "db.example:5432", "DB.example.:5432", "192.0.2.1:22", "192.0.2.1", "[2001:db8::1]:443", "127.0.0.1:80",
    ] {
      #expect(try Self.isAllowed(text, allowance), "\(text)")
    }
    for text in ["db.example:22", "db.example", "x.db.example:5432", "192.0.2.2", "[2001:db8::1]:80", "127.0.0.1:81"] {
      #expect(try !Self.isAllowed(text, allowance), "\(text)")
    }
  }

  @Test("names, what is below a name, addresses and networks are allowed as they are written")
  func rules() throws {
    let allowance = try Self.allowance(["a.example", "*.b.example", "192.0.2.0/25", "2001:db8::/32", "198.51.100.7"])
    for text in [
      "a.example:1", "A.EXAMPLE.:1", "x.b.example:1", "x.y.b.example", "192.0.2.127:1", "[2001:db8:ffff::1]:1",
      "[::ffff:192.0.2.1]:1", "198.51.100.7",
    ] {
      #expect(try Self.isAllowed(text, allowance), "\(text)")
    }
    for text in [
      "b.example:1", "xa.example", "a.example.com", "xb.example", "192.0.2.128:1", "[2001:db9::1]:1", "198.51.100.8",
    ] {
      #expect(try !Self.isAllowed(text, allowance), "\(text)")
    }
  }

  @Test(
    "where clouds serve secrets, and this host's own loopback, no wide rule leads",
    arguments: [
      "169.254.169.254:80", "169.254.170.2:80", "[fd00:ec2::254]:80", "[fe80::a9fe:a9fe%1]:80", "127.0.0.1:22",
      "127.8.8.8:22", "[::1]:22", "[::ffff:169.254.169.254]:80", "[64:ff9b::a9fe:a9fe]:80", "[2002:a9fe:a9fe::]:80",
      "[64:ff9b::7f00:1]:80", "[64:ff9b:1::a9fe:a9fe]:80", "[::a9fe:a9fe]:80", "[::ffff:0:a9fe:a9fe]:80",
      "[2001:0:a9fe:a9fe::1]:80", "[2001:0:c000:201::5601:5601]:80", "[fec0::1]:80", "[fd20:ce::254]:80",
      "100.100.100.200:80", "192.0.0.192:80",
    ])
  func special(text: String) throws {
    #expect(try !Self.isAllowed(text, try Self.allowance(["*", "0.0.0.0/0", "::/0", "fc00::/7"])))
  }

  @Test("such an address is allowed when a rule names it, or the range of its kind")
  func named() throws {
    let allowance = try Self.allowance(
      ["169.254.169.254", "fd00:ec2::254", "fe80::/10", "127.0.0.0/8", "::1", "64:ff9b::/96"])
    for text in [
      "169.254.169.254:80", "[fd00:ec2::254]:80", "[fe80::1%1]:80", "127.0.0.1:22", "[::1]:22",
      "[64:ff9b::a9fe:a9fe]:80",
    ] {
      #expect(try Self.isAllowed(text, allowance), "\(text)")
    }
    #expect(try !Self.isAllowed("169.254.169.253:80", allowance))
    #expect(try !Self.isAllowed("[fd00:ec2::253]:80", allowance))
  }

  @Test("a name that is allowed does not lead to an address that is not")
  func rebinding() throws {
    let allowance = try Self.allowance(["*.example", "localhost", "*"], declared: ["own.example"])
    let name = HostName(query: "x.example", display: "x.example")
    for text in ["169.254.169.254", "127.0.0.1", "::1", "fe80::1%1", "0.0.0.0", "::", "224.0.0.1", "64:ff9b::7f00:1"] {
      let address = try IPAddress(parsing: text)
      #expect(throws: ProbeAllowance.Refusal.self, "\(text)") {
        try allowance.check(address, port: 80, under: .rule, of: name)
      }
    }
    try allowance.check("10.0.0.1", port: 80, under: .rule, of: name)
    try allowance.check(
      "127.0.0.1", port: 80, under: .declared, of: HostName(query: "own.example", display: "own.example"))
    try allowance.check("127.0.0.1", port: 80, under: .rule, of: HostName(query: "localhost", display: "localhost"))
    #expect(throws: ProbeAllowance.Refusal.self) {
      try allowance.check("169.254.169.254", port: 80, under: .declared, of: name)
    }
  }

  @Test("a name leads to a declared address at the declared port only, and any name is not localhost")
  func declaredPort() throws {
    let name = HostName(query: "a.evil.example", display: "a.evil.example")
    let localhost = HostName(query: "localhost", display: "localhost")
    let allowance = try Self.allowance(["*"], declared: ["127.0.0.1:9002"])
    try allowance.check("127.0.0.1", port: 9002, under: .rule, of: name)
    for name in [name, localhost] {
      #expect(throws: ProbeAllowance.Refusal.self) {
        try allowance.check("127.0.0.1", port: 9005, under: .rule, of: name)
      }
    }
    try Self.allowance(["localhost"]).check("127.0.0.1", port: 9005, under: .rule, of: localhost)
  }

  @Test(
    "what a rule may be",
    arguments: [
      "*", "*.example.com", "example.com", "bücher.example", "192.0.2.1", "192.0.2.0/24", "2001:db8::/32",
      "[2001:db8::1]",
      "0.0.0.0/0", "::/0", "_x.example",
    ])
  func rule(text: String) throws {
    let rule = try AllowRule(parsing: text)
    #expect(try AllowRule(parsing: "\(rule)") == rule)
  }

  @Test(
    "what a rule may not be",
    arguments: [
      "", "*example.com", "a.*.com", "192.0.2.1/24", "192.0.2.0/33", "192.0.2.0/", "192.0.2.0/x", "2001:db8::/129",
      "192.0.2.1:80", "example.com:80", "http://example.com", "192.0.2", "*.", "192.0.2.0/+8", "**", "a b",
    ])
  func noRule(text: String) {
    #expect(throws: ValueError.self) { try AllowRule(parsing: text) }
  }
}
