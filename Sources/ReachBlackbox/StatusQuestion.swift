internal import Glibc
internal import ReachConfig
public import ReachCore
public import ReachIO

/// One question to an HTTP server, of whose answer only the status is read: the first line, and no more of it than a line
/// of that kind can be long.
public struct StatusQuestion: Hashable, Sendable {
  /// Whom to ask.
  public enum Place: Hashable, Sendable {
    /// A TCP port.
    case port(SocketAddress)
    /// A Unix socket.
    case unix(path: String)
  }

  /// What the server answered.
  public enum Answer: Hashable, Sendable {
    /// The status of an HTTP answer.
    case status(Int)
    /// An alert of TLS, such as one that asks for a certificate; the text is for people.
    case refusal(String)
  }

  /// Why there is no answer.
  public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// For people.
    public let description: String
    /// The errno of a connection that could not be made; nil for any other failure.
    public let connectError: FaultCode?
  }

  private let place: Place
  private let isSecure: Bool
  private let host: String
  private let path: String

  private static let longestLine = 1_024
  /// How long until a Unix socket without room for another client is asked again.
  private static let roomPause = Duration.milliseconds(20)

  /// A question for a page. `host` is what the request, and TLS, call the server.
  public init(_ place: Place, isSecure: Bool, host: String, path: String) {
    self.place = place
    self.isSecure = isSecure
    self.host = host
    self.path = path
  }

  /// Asks, and waits for the answer. A certificate is not verified: nothing is told to the server, nor believed of it but
  /// that it answers. Call it from a task on the loop. Throws when there is no answer by the deadline.
  public func ask(until deadline: Instant, on loop: EventLoop) async throws(Failure) -> Answer {
    let socket: Socket
    do throws(SystemError) {
      switch place {
      case .port(let peer): socket = try Socket.openTCP(peer.address.family)
      case .unix: socket = try Socket.openUnix()
      }
    } catch {
      throw Failure(description: "\(error)", connectError: nil)
    }
    defer { socket.close() }
    let stream = PlainStream(socket: socket, deadline: deadline, loop: loop)
    do throws(StreamFailure) { try await connect(stream) } catch {
      var code: FaultCode?
      if case .system(let error) = error { code = error.code }
      throw Failure(description: Self.text(error, "it accepts no connection"), connectError: code)
    }
    do throws(StreamFailure) {
      return try await exchange(over: stream)
    } catch {
      if case .refused(let why) = error { return .refusal(why) }
      throw Failure(description: Self.text(error, "it does not answer"), connectError: nil)
    }
  }

  private static func text(_ failure: StreamFailure, _ late: String) -> String {
    failure == .deadline ? late + " in time" : "\(failure)"
  }

  private func connect(_ stream: PlainStream) async throws(StreamFailure) {
    switch place {
    case .port(let peer):
      do throws(SystemError) {
        if try stream.socket.connect(to: peer) { return }
      } catch {
        throw .system(error)
      }
      try await stream.wait(for: .writable)
      if let code = stream.socket.takeError() { throw .system(SystemError("connect", code)) }
    case .unix(let path):
      while true {
        do throws(SystemError) {
          if try stream.socket.connect(toUnix: path) { return }
        } catch {
          throw .system(error)
        }
        try await stream.pause()
        await stream.loop.sleep(until: min(stream.deadline, stream.loop.now().advanced(by: Self.roomPause)))
      }
    }
  }

  private func exchange(over plain: PlainStream) async throws(StreamFailure) -> Answer {
    var stream: any ByteStream = plain
    if isSecure {
      var settings = TLSClientSettings()
      settings.skipsVerification = true
      // Whatever the server speaks shows that it lives.
      settings.oldest = .tls10
      let credentials = try LoadedCredentials(authorities: "", certificate: nil, key: nil)
      stream = try await TLSStream.begin(over: plain, settings, name: host, credentials)
    }
    let request = "GET \(path) HTTP/1.0\r\nHost: \(host)\r\nUser-Agent: reachd\r\nConnection: close\r\n\r\n"
    try await stream.write(Array(request.utf8))
    var line: [UInt8] = []
    while !line.contains(UInt8(ascii: "\n")), line.count < Self.longestLine {
      let octets = try await stream.read(upTo: Self.longestLine - line.count)
      if octets.isEmpty { break }
      line += octets
    }
    guard let status = Self.status(in: line) else { throw .tls("what it answers is no HTTP") }
    return .status(status)
  }

  /// The status in the first line of an answer (RFC 9112 section 4); nil when it is none.
  static func status(in octets: [UInt8]) -> Int? {
    guard let end = octets.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    let words = octets[..<end].split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
    guard words.count >= 2, words[0].starts(with: "HTTP/1.".utf8), words[0].count == 8 else { return nil }
    let digits = words[1].last == UInt8(ascii: "\r") ? words[1].dropLast() : words[1]
    guard digits.count == 3, digits.allSatisfy({ (48...57).contains($0) }), digits.first != 48 else { return nil }
    return digits.reduce(0) { $0 * 10 + Int($1 - 48) }
  }
}
