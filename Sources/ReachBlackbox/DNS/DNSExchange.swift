internal import ReachConfig
internal import ReachCore
internal import ReachIO
internal import ReachProbe

/// One query to one server, and its answer. Isolation: from a task on the event loop.
struct DNSExchange {
  /// What is asked.
  let message: DNSQuestionMessage
  /// Who is asked, from where, and until when.
  let dial: Dial
  /// How a connection is secured; nil for one that is not (RFC 7858).
  var security: Security?

  /// What TLS needs.
  struct Security {
    let settings: TLSClientSettings
    /// Whom the server must be.
    let name: String
    let credentials: TLSClientCredentials
  }

  var loop: EventLoop { dial.host.loop }

  /// How an exchange went.
  struct Course {
    /// The answer, or why there is none.
    var result: Result<DNSReader, DNSFailure>
    /// From the first query that was sent to the answer, or to the end of waiting; zero when none was sent.
    var request = Duration.zero
    /// How often the query was sent again.
    var retries = 0
    /// How many messages came that are no answer to the query.
    var strangers = 0
  }

  /// A number that nobody can guess (RFC 5452 section 4.3).
  static func newID() -> UInt16 { .random(in: 0...(.max)) }
}
