internal import CReachLinux
internal import Glibc
public import ReachCore

/// A system call that failed: which one, and the errno it left (errno(3)).
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The call as its man page names it, such as `connect`.
  public let call: StaticName
  /// The errno, always positive.
  public let code: FaultCode

  /// The failure of `call` with `code`.
  public init(_ call: StaticName, _ code: FaultCode) {
    self.call = call
    self.code = code
  }

  /// The failure of `call` with the errno of this very moment.
  public static func current(_ call: StaticName) -> SystemError { SystemError(call, FaultCode(errno: errno)) }

  /// For people: the call and the errno's name, such as `connect: ECONNREFUSED`.
  public var description: String { "\(call.text): \(code.name)" }
}

/// The name of a system call: a literal of the program, comparable and hashable.
public struct StaticName: Hashable, Sendable, ExpressibleByStringLiteral {
  /// The literal's text.
  public let text: String
  /// The name written in the source.
  public init(stringLiteral text: String) { self.text = text }
}

/// Runs a system call that returns -1 on failure, repeating it when a signal interrupted it.
///
/// Not for close(2), which must not be repeated, nor for connect(2), whose second call means something else.
@inlinable
public func retryingInterrupts<Value: FixedWidthInteger & SignedInteger>(
  _ name: StaticName, _ body: () -> Value
) throws(SystemError) -> Value {
  while true {
    let result = body()
    if result != -1 { return result }
    let failure = SystemError.current(name)
    if failure.code != .interrupted { throw failure }
  }
}
