import Glibc
import ReachCore
import ReachHTTP
import ReachIO

/// A client on the loop, as bare as can be: it sends bytes and takes what comes.
struct TestClient: ~Copyable {
  private let loop: EventLoop
  private let descriptor: Descriptor
  private var waiting: [UInt8] = []

  var number: Int32 { descriptor.number }

  struct Failure: Error {
    let what: String
  }

  struct Reply {
    var status: Int
    var headers: [String: String]
    var body: [UInt8]
    var text: String { String(decoding: body, as: UTF8.self) }
  }

  /// Connects. A small receive buffer makes the kernel push back early; `source` is the address to come from.
  init(
    to address: ListenAddress, on loop: EventLoop, receiveBuffer: Int32? = nil, source: IPAddress? = nil
  ) async throws {
    let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let family =
      switch address {
      case .address(let ip, _): ip.family == .ipv4 ? AF_INET : AF_INET6
      case .unix: AF_UNIX
      default: AF_INET
      }
    let made = Descriptor(owning: try retryingInterrupts("socket") { socket(family, type, 0) })
    if var size = receiveBuffer {
      _ = unsafe setsockopt(made.number, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }
    if let source { try Socket(number: made.number).bind(to: SocketAddress(source, port: 0)) }
    let number = made.number
    let code = Self.connect(number, to: address)
    guard code == 0 || errno == EINPROGRESS else { throw Failure(what: "connect: \(errno)") }
    _ = try await loop.wait(on: number, for: .writable, until: .distantFuture)
    self.loop = loop
    descriptor = made
  }

  private static func connect(_ number: Int32, to address: ListenAddress) -> Int32 {
    switch address {
    case .address(let ip, let port): return connect(number, to: ip, port)
    case .anyAddress(let port): return connect(number, to: IPAddress(ipv4: 0x7f00_0001), port)
    case .descriptor: return -1
    case .unix(let path):
      var local = sockaddr_un()
      local.sun_family = sa_family_t(AF_UNIX)
      unsafe withUnsafeMutableBytes(of: &local.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
      return unsafe withUnsafePointer(to: &local) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe Glibc.connect(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
    }
  }

  private static func connect(_ number: Int32, to ip: IPAddress, _ port: UInt16) -> Int32 {
    (try? Socket(number: number).connect(to: SocketAddress(ip, port: port))) == nil ? -1 : 0
  }

  func send(_ text: String) async throws {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes {
        unsafe Glibc.send(descriptor.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else {
        guard errno == EAGAIN else { throw Failure(what: "send: \(errno)") }
        _ = try await loop.wait(on: descriptor.number, for: .writable, until: .distantFuture)
      }
    }
  }

  /// What comes next, up to `limit` bytes; empty at the end of the stream.
  mutating func receive(upTo limit: Int = 64 * 1024) async throws -> [UInt8] {
    if !waiting.isEmpty {
      defer { waiting = [] }
      return waiting
    }
    var buffer = [UInt8](repeating: 0, count: limit)
    while true {
      let count = unsafe recv(descriptor.number, &buffer, buffer.count, 0)
      if count >= 0 { return Array(buffer.prefix(count)) }
      if errno == ECONNRESET { return [] }
      guard errno == EAGAIN else { throw Failure(what: "recv: \(errno)") }
      _ = try await loop.wait(on: descriptor.number, for: .readable, until: .distantFuture)
    }
  }

  mutating func receiveToEnd() async throws -> [UInt8] {
    var all: [UInt8] = []
    while true {
      let piece = try await receive()
      if piece.isEmpty { return all }
      all += piece
    }
  }

  /// Reads one reply: by its length, by its chunks, or none for HEAD.
  mutating func reply(toHead: Bool = false) async throws -> Reply {
    var bytes: [UInt8] = []
    var end: Int?
    while end == nil {
      let piece = try await receive()
      if piece.isEmpty { throw Failure(what: "closed after \(String(decoding: bytes, as: UTF8.self))") }
      bytes += piece
      end = Self.headEnd(bytes)
    }
    let head = String(decoding: bytes.prefix(end ?? 0), as: UTF8.self).split(whereSeparator: \.isNewline)
    var reply = Reply(status: 0, headers: [:], body: [])
    reply.status = head.first.flatMap { Int($0.split(separator: " ").dropFirst().first ?? "") } ?? 0
    for line in head.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      reply.headers[line[..<colon].lowercased()] = String(line[line.index(colon, offsetBy: 2)...])
    }
    bytes.removeFirst((end ?? 0) + 4)
    if toHead {
      waiting = bytes
    } else if let length = reply.headers["content-length"].flatMap({ Int($0) }) {
      while bytes.count < length { bytes += try await receive() }
      reply.body = Array(bytes.prefix(length))
      waiting = Array(bytes.dropFirst(length))
    } else if reply.headers["transfer-encoding"] == "chunked" {
      while !bytes.ends(with: "0\r\n\r\n") { bytes += try await receive() }
      reply.body = try Self.unchunk(bytes)
    } else {
      reply.body = bytes + (try await receiveToEnd())
    }
    return reply
  }

  private static func headEnd(_ bytes: [UInt8]) -> Int? {
    guard bytes.count >= 4 else { return nil }
    return (0...(bytes.count - 4)).first { bytes[$0...].starts(with: [13, 10, 13, 10]) }
  }

  private static func unchunk(_ bytes: [UInt8]) throws -> [UInt8] {
    var body: [UInt8] = []
    var rest = bytes[...]
    while let end = rest.firstIndex(of: 13) {
      guard let size = Int(String(decoding: rest[..<end], as: UTF8.self), radix: 16) else {
        throw Failure(what: "no chunk size")
      }
      if size == 0 { return body }
      body += rest[(end + 2)..<(end + 2 + size)]
      rest = rest[(end + 2 + size + 2)...]
    }
    throw Failure(what: "no last chunk")
  }
}

/// Keeps a client's connection open for as long as it lives.
final class HeldClient {
  private let client: TestClient
  init(_ client: consuming TestClient) { self.client = client }
}

extension [UInt8] {
  func ends(with text: String) -> Bool { suffix(text.utf8.count).elementsEqual(text.utf8) }
}
