import Glibc
import ReachCore
import ReachIO
import ReachTestSupport

/// A server of openssl's, s_server(1), with a certificate for `good.test` by an authority of the test's own, `ca.crt`.
///
/// Isolation: on its event loop, in a network namespace where its port is free.
final class TLSServer: Sendable {
  static let port: UInt16 = 8443

  private let process: ChildProcess

  /// Makes the certificates in the folder and starts it there.
  static func start(in folder: TestFolder, on loop: EventLoop) async throws -> TLSServer {
    let path = folder.path
    try folder.write("subjectAltName = DNS:good.test,DNS:*.good.test,IP:192.0.2.1", to: "extensions")
    let request = ["openssl", "req", "-newkey", "rsa:2048", "-nodes", "-days", "30"]
    for command in [
      request + ["-x509", "-subj", "/C=DE/O=Test, Inc./CN=Test authority", "-keyout", "\(path)/ca.key"]
        + ["-out", "\(path)/ca.crt"],
      request.filter { $0 != "-days" && $0 != "30" }
        + ["-subj", "/C=DE/ST=Berlin/L=Mitte/O=Test/OU=A/OU=B/CN=good.test", "-keyout", "\(path)/key"]
        + ["-out", "\(path)/request"],
      ["openssl", "x509", "-req", "-in", "\(path)/request", "-CA", "\(path)/ca.crt", "-CAkey", "\(path)/ca.key"]
        + ["-set_serial", "0x00c0ffee0123456789", "-days", "20", "-extfile", "\(path)/extensions"]
        + ["-out", "\(path)/crt"],
    ] {
      let made = try runProgram(command)
      guard made.isSuccess else { throw ProgramFailed(description: made.output) }
    }
    let process = try ChildProcess(
      ["openssl", "s_server", "-accept", "127.0.0.1:\(port)", "-cert", "\(path)/crt", "-key", "\(path)/key", "-rev"],
      on: loop)
    try await eventually("s_server", on: loop, state: { process.failure("").description }) {
      guard process.isRunning else { throw process.failure("ended") }
      let socket = try Socket.openTCP(.ipv4)
      defer { socket.close() }
      guard (try? socket.connect(to: SocketAddress(.loopback, port: port))) == false else { return () }
      _ = try await loop.wait(on: socket.number, for: .writable, until: loop.now().advanced(by: .seconds(5)))
      return socket.takeError() == nil ? () : nil
    }
    return TLSServer(process: process)
  }

  private init(process: ChildProcess) { self.process = process }

  struct ProgramFailed: Error, CustomStringConvertible { let description: String }
}

/// A server that says it is ready, waits for a line that asks for TLS, and hands what follows to a server that speaks it.
///
/// Isolation: on its event loop.
struct StartTLSServer {
  let port: TestPort

  init(forwardingTo server: UInt16, on loop: EventLoop) throws {
    let port = try TestPort(.open)
    self.port = port
    loop.spawn {
      while let client = try? await port.acceptNext(on: loop) {
        loop.spawn { try? await Self.serve(client, server, on: loop) }
      }
    }
  }

  private static func serve(_ client: Socket, _ server: UInt16, on loop: EventLoop) async throws {
    defer { client.close() }
    _ = try client.send(Array("220 ready\r\n".utf8))
    var heard: [UInt8] = []
    while !heard.contains(UInt8(ascii: "\n")) {
      let octets = try await receive(client, on: loop)
      if octets.isEmpty { return }
      heard += octets
    }
    let upstream = try Socket.openTCP(.ipv4)
    defer { upstream.close() }
    if try !upstream.connect(to: SocketAddress(.loopback, port: server)) {
      _ = try await loop.wait(on: upstream.number, for: .writable, until: .distantFuture)
    }
    _ = try client.send(Array("go ahead\r\n".utf8))
    let back = loop.spawn {
      while let octets = try? await receive(upstream, on: loop), !octets.isEmpty {
        guard (try? client.send(octets)) == octets.count else { return }
      }
    }
    while let octets = try? await receive(client, on: loop), !octets.isEmpty {
      guard try upstream.send(octets) == octets.count else { break }
    }
    back.cancel()
    await back.value
  }

  private static func receive(_ socket: Socket, on loop: EventLoop) async throws -> [UInt8] {
    while true {
      if let octets = try socket.receive(upTo: 16_384) { return octets }
      if try await loop.wait(on: socket.number, for: .readable, until: .distantFuture) == .cancelled { return [] }
    }
  }
}
