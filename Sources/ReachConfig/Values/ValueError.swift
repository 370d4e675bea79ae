/// Why a text is not the value it should be.
public struct ValueError: Error, Hashable, Sendable, CustomStringConvertible {
  /// For people: what is wrong, and what to write instead.
  public let description: String
  init(_ description: String) { self.description = description }
}
