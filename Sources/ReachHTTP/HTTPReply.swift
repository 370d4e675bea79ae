/// The promise of an answer to a request whose handler needs something that is not at hand.
///
/// Meanwhile the connection is left alone, and costs nothing but its memory. Without an answer within
/// `HTTPLimits.reply` the client is sent a 504. Keeping the reply is not needed for that.
public struct HTTPReply: Sendable {
  let number: UInt64
  let context: DaemonContext

  /// Gives the answer so long instead of `HTTPLimits.reply`. For the handler, before it returns.
  public func allow(_ duration: Duration) { context.allow(number, duration) }

  /// Answers. The first answer counts; one that comes too late is dropped. On the event loop.
  public func send(_ response: HTTPResponse) { context.settle(number, .answer(response)) }

  /// Lets a request be asked, whose admission was waited for.
  func admit() { context.settle(number, .admitted) }
}
