internal import ReachCore
public import ReachIO

/// Something that should have come about has not.
public struct NeverHappened: Error, CustomStringConvertible {
  /// What was waited for, for how long, and what was there instead.
  public let description: String
}

/// Asks again and again until `condition` gives a value, and returns that. It is for what happens in other processes, of
/// which nothing tells the test.
///
/// Call it from a task on the loop. Throws `NeverHappened` when there is no value within `limit`, with the text of
/// `state` then, and what `condition` throws.
public func eventually<Value>(
  _ what: String, on loop: EventLoop, within limit: Duration = .seconds(40), state: () -> String = { "" },
  _ condition: () async throws -> Value?
) async throws -> Value {
  let deadline = loop.now().advanced(by: limit)
  while true {
    if let value = try await condition() { return value }
    guard loop.now() < deadline else {
      throw NeverHappened(description: "waited \(limit) in vain for \(what)\n\(state())")
    }
    await loop.sleep(until: loop.now().advanced(by: .milliseconds(20)))
  }
}
