/// Why bytes are no message of rtnetlink(7).
public struct MalformedMessage: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong.
  public enum Problem: String, Hashable, Sendable, CaseIterable {
    /// nlmsg_len is below a header's length or goes past the end of what was read.
    case messageLength
    /// The message ends inside the fixed part that its type has.
    case body
    /// An attribute's length goes past the end of what holds it.
    case attributeLength
    /// An attribute is too short, or not of the length that its type has.
    case attributeSize
    /// The family and an address of the message do not belong together.
    case addressFamily
  }

  /// What is wrong.
  public let problem: Problem
  /// nlmsg_type; 0 when no header could be read.
  public let messageType: UInt16
  /// The attribute's type, where the problem is one of an attribute.
  public let attribute: UInt16?

  /// A malformed message.
  public init(_ problem: Problem, messageType: UInt16 = 0, attribute: UInt16? = nil) {
    self.problem = problem
    self.messageType = messageType
    self.attribute = attribute
  }

  /// For people: the problem, the message's type and the attribute's.
  public var description: String {
    "malformed \(MessageType.name(messageType)): \(problem.rawValue)" + (attribute.map { " of attribute \($0)" } ?? "")
  }
}
