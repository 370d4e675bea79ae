internal import Glibc
internal import ReachCore
internal import ReachIO

/// Why a name server's answer is not there.
enum DNSFailure: Error, Hashable, Sendable {
  /// This host could not ask: that is no word on the server.
  case fault(LocalFault)
  /// A call failed, or the network said that there is no way to the server.
  case system(SystemError)
  /// The time was over first; what the network said meanwhile, if anything.
  case timedOut(SystemError?)
  /// The connection did not come about, in words.
  case noConnection(String)
  /// The server ended the connection first.
  case closed
  /// TLS failed, in words.
  case tls(String)
  /// An answer came that cannot be read.
  case malformed
  /// Over a connection, something else came than an answer to the query.
  case foreign
  /// Nobody waits any more.
  case cancelled

  /// What a failed call comes to.
  init(_ error: SystemError) {
    if let fault = error.permissionFault() ?? ModuleProbe.fault(error) {
      self = .fault(fault)
    } else {
      self = .system(error)
    }
  }

  /// What a stream's end comes to.
  init(_ failure: StreamFailure) {
    switch failure {
    case .deadline: self = .timedOut(nil)
    case .cancelled: self = .cancelled
    case .system(let error): self.init(error)
    case .tls(let why), .refused(let why): self = .tls(why)
    }
  }

  /// What a connection that did not come about comes to.
  init(_ failure: Dial.Failure) {
    self = failure.fault.map { .fault($0) } ?? .noConnection(failure.what)
  }

  /// Whether it is what a router says of the way, which may be another a moment later.
  var isComplaint: Bool {
    guard case .system(let error) = self, let number = error.code.errno else { return false }
    return [ENETUNREACH, EHOSTUNREACH, EHOSTDOWN, ENETDOWN, EACCES].contains(number)
  }

  /// In words.
  var text: String {
    switch self {
    case .fault(let fault): fault.detail.isEmpty ? "\(fault.reason)" : fault.detail
    case .system(let error): "\(error)"
    case .timedOut(nil): "no answer in time"
    case .timedOut(let error?): "no answer in time (\(error))"
    case .noConnection(let what), .tls(let what): what
    case .closed: "the server ended the connection without an answer"
    case .malformed: "the answer cannot be read"
    case .foreign: "what came is no answer to the query"
    case .cancelled: "cancelled"
    }
  }
}
