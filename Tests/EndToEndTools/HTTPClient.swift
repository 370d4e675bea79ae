import Glibc
import ReachCore
import ReachIO
import ReachTestSupport

/// What a server answered.
struct HTTPAnswer {
  let status: Int
  /// By names in lower case.
  let headers: [String: String]
  let body: String
}

/// Asks one server, a connection for each request.
///
/// Isolation: on its event loop.
struct HTTPClient {
  let address: IPAddress
  let port: UInt16
  let loop: EventLoop
  /// Where the server is, if not in the network of the loop's thread.
  var network: NetworkNamespace?

  /// Sends a request, with header fields such as `Accept: */*`, and returns the answer. Throws when there is none within
  /// the limit.
  func get(
    _ path: String, method: String = "GET", headers: [String] = [], within limit: Duration = .seconds(20)
  ) async throws -> HTTPAnswer {
    let socket =
      if let network {
        try network.perform { () throws(SystemError) in try Socket.openTCP(address.family) }
      } else {
        try Socket.openTCP(address.family)
      }
    defer { socket.close() }
    let deadline = loop.now().advanced(by: limit)
    if try !socket.connect(to: SocketAddress(address, port: port)) {
      guard case .ready = try await loop.wait(on: socket.number, for: .writable, until: deadline) else {
        throw SystemError("connect", FaultCode(errno: ETIMEDOUT))
      }
      if let code = socket.takeError() { throw SystemError("connect", code) }
    }
    // With HTTP/1.0 the server ends the answer by closing.
    let head = (["\(method) \(path) HTTP/1.0", "Host: \(address)"] + headers).joined(separator: "\r\n")
    let request = Array((head + "\r\n\r\n").utf8)
    let sent = unsafe request.withUnsafeBytes {
      unsafe send(socket.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
    }
    guard sent == request.count else { throw SystemError.current("send") }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      let count = unsafe recv(socket.number, &chunk, chunk.count, 0)
      if count == 0 { break }
      if count > 0 {
        bytes += chunk[..<count]
        continue
      }
      guard errno == EAGAIN else { throw SystemError.current("recv") }
      guard case .ready = try await loop.wait(on: socket.number, for: .readable, until: deadline) else {
        throw SystemError("recv", FaultCode(errno: ETIMEDOUT))
      }
    }
    return try HTTPAnswer(parsing: bytes)
  }

  /// The JSON of a page. Throws when there is none.
  func json(_ path: String) async throws -> JSON {
    let answer = try await get(path)
    guard answer.status == 200 else { throw HTTPFailure(description: "\(path): \(answer.status) \(answer.body)") }
    return try JSON(parsing: answer.body)
  }

  /// The samples of the exposition, or those whose names begin like that. Throws when there is no exposition.
  func metrics(beginningWith prefix: String = "") async throws -> ExpositionText {
    let answer = try await get("/metrics")
    guard answer.status == 200 else { throw HTTPFailure(description: "/metrics: \(answer.status) \(answer.body)") }
    if prefix.isEmpty { return try ExpositionText(parsing: answer.body) }
    let lines = answer.body.split(separator: "\n").filter { $0.hasPrefix(prefix) }
    return try ExpositionText(parsing: lines.joined(separator: "\n"))
  }
}

/// An answer that is no answer, or not the one wanted.
struct HTTPFailure: Error, CustomStringConvertible {
  let description: String
}

extension HTTPAnswer {
  init(parsing bytes: [UInt8]) throws(HTTPFailure) {
    let end = bytes.indices.first { bytes[$0...].starts(with: "\r\n\r\n".utf8) } ?? 0
    let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
    let words = lines.first?.split(separator: " ") ?? []
    guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else {
      throw HTTPFailure(description: "no HTTP answer: \(String(decoding: bytes, as: UTF8.self))")
    }
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      headers[line[..<colon].lowercased()] = String(line[line.index(after: colon)...].drop { $0 == " " })
    }
    self.init(status: status, headers: headers, body: String(decoding: bytes[(end + 4)...], as: UTF8.self))
  }
}

/// A text as a part of a URL's query (RFC 3986, section 2.1).
func percentEncoded(_ text: String) -> String {
  var encoded = ""
  for byte in text.utf8 {
    let character = Character(Unicode.Scalar(byte))
    if byte < 0x80, character.isLetter || character.isNumber {
      encoded.append(character)
    } else {
      let digits = String(byte, radix: 16, uppercase: true)
      encoded += "%" + String(repeating: "0", count: 2 - digits.count) + digits
    }
  }
  return encoded
}
