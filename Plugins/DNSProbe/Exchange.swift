internal import ReachCore

/// One query that c-ares has been given, until its callback has run.
///
/// c-ares holds a reference of its own meanwhile. Whoever no longer waits for the answer marks the exchange as done:
/// c-ares can cancel a whole channel only, so the late callback is let run and finds nobody.
final class Exchange {
  /// The resolution that waits.
  let job: UInt64
  /// Which of its queries this is.
  let ticket: Resolution.Ticket
  /// What was asked.
  let question: DNSQuestion
  /// How.
  let query: QueryPlan.Order
  /// Where.
  let channel: ChannelCore
  /// The query's number in its message; nil before it was sent, and over TCP.
  var id: UInt16?
  /// Another query of the channel that has the same number.
  var nextOfSameID: Exchange?
  /// How many replies its channel had had when it was sent.
  let receivedBefore: Int
  /// Whether the answer has been passed on, or is no longer waited for.
  var isDone = false

  init(job: UInt64, order: Resolution.Order, channel: ChannelCore) {
    self.job = job
    ticket = order.ticket
    question = order.question
    query = order.query
    self.channel = channel
    receivedBefore = channel.received
  }
}
