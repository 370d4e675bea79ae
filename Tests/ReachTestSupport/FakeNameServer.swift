internal import Glibc
public import ReachCore
public import ReachIO

/// A name server, UDP and TCP, that does to each query what the test says. Its sockets belong to the network namespace
/// in which it is made: see `NetworkNamespace.perform`.
///
/// Isolation: on its event loop.
public final class FakeNameServer: Sendable {
  /// A query as it came.
  public struct Query: Sendable {
    /// The message.
    public let bytes: [UInt8]
    /// Whether it came over TCP.
    public let isTCP: Bool
    /// How many came before it.
    public let number: Int

    /// ID.
    public var id: UInt16 { UInt16(bytes[0]) << 8 | UInt16(bytes[1]) }
    /// Whether it has an additional record, as EDNS takes (RFC 6891).
    public var hasEDNS: Bool { bytes[11] == 1 }
    /// QTYPE.
    public var type: UInt16 { UInt16(question[question.count - 4]) << 8 | UInt16(question[question.count - 3]) }
    /// QNAME, without the dot of the root.
    public var name: String {
      var labels: [String] = []
      var offset = 12
      while bytes[offset] != 0 {
        let end = offset + 1 + Int(bytes[offset])
        labels.append(String(decoding: bytes[(offset + 1)..<end], as: UTF8.self))
        offset = end
      }
      return labels.joined(separator: ".")
    }
    /// The question section as on the wire.
    public var question: [UInt8] {
      var end = 12
      while bytes[end] != 0 { end += 1 + Int(bytes[end]) }
      return Array(bytes[12..<(end + 5)])
    }

    /// An answer with these records.
    public func answer(
      _ records: [Wire.Record], code: UInt16 = 0, flags: UInt16 = Wire.Flags.recursionAvailable
    ) -> [UInt8] {
      Wire.message(id: id, flags: Wire.Flags.response | flags | code, question: question, answers: records)
    }

    /// An answer with the addresses of the family that was asked for.
    public func addresses(_ addresses: [IPAddress], ttl: UInt32 = 300) -> [UInt8] {
      answer(addresses.filter { $0.family == (type == 1 ? .ipv4 : .ipv6) }.map { Wire.address($0, ttl: ttl) })
    }
  }

  /// What is done to a query.
  public enum Action: Sendable {
    /// This message.
    case reply([UInt8])
    /// These messages.
    case replies([[UInt8]])
    /// Nothing.
    case silence
    /// Ends the TCP connection.
    case close
  }

  private struct State {
    var queries: [Query] = []
    var connections: [Int32: EventLoop.Watch] = [:]
    var watches: [EventLoop.Watch] = []
  }

  /// Its port.
  public let port: UInt16
  /// Its address.
  public let address: IPAddress
  private let loop: EventLoop
  private let udp: Int32
  private let tcp: Int32
  private let behaviour: @Sendable (Query) -> Action
  private let state: LoopConfined<State>

  /// Listens on an IPv4 address, and on a port of the kernel's choice when it is 0. With `listensToTCP` false, the TCP
  /// port refuses. Throws what socket(2), bind(2) or epoll_ctl(2) failed with.
  public init(
    _ loop: EventLoop, on address: IPAddress = IPAddress(ipv4: 0x7f00_0001), port: UInt16 = 0,
    listensToTCP: Bool = true, _ behaviour: @escaping @Sendable (Query) -> Action
  ) throws {
    self.loop = loop
    self.behaviour = behaviour
    self.address = address
    (udp, tcp, self.port) = try Self.sockets(address.ipv4Bits ?? 0, port)
    state = LoopConfined(State(), on: loop)
    let datagrams = try loop.watch(udp, for: .readable) { [weak self] _ in self?.readDatagrams() }
    state.withState { $0.watches.append(datagrams) }
    guard listensToTCP else { return }
    listen(tcp, 16)
    let connections = try loop.watch(tcp, for: .readable) { [weak self] _ in self?.accept() }
    state.withState { $0.watches.append(connections) }
  }

  /// The queries so far.
  public var queries: [Query] { state.withState { $0.queries } }

  deinit {
    close(udp)
    close(tcp)
  }

  /// Ends all watches and connections.
  public func stop() {
    state.withState { state in
      for watch in state.watches { loop.unwatch(watch) }
      for (descriptor, watch) in state.connections {
        loop.forget(watch)
        close(descriptor)
      }
      state = State()
    }
  }

  /// A UDP and a TCP socket bound to the same port; another port is tried when TCP's is taken.
  private static func sockets(_ bits: UInt32, _ wanted: UInt16) throws -> (Int32, Int32, UInt16) {
    for _ in 0..<20 {
      let flags = SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
      let udp = socket(AF_INET, Int32(SOCK_DGRAM.rawValue | flags), 0)
      let port = try bind(udp, bits, wanted)
      let tcp = socket(AF_INET, Int32(SOCK_STREAM.rawValue | flags), 0)
      if (try? bind(tcp, bits, port)) != nil { return (udp, tcp, port) }
      close(udp)
      close(tcp)
    }
    throw SystemError("bind", FaultCode(errno: EADDRINUSE))
  }

  private static func bind(_ descriptor: Int32, _ bits: UInt32, _ port: UInt16) throws(SystemError) -> UInt16 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = bits.bigEndian
    address.sin_port = port.bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let size = length
    let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe Glibc.bind(descriptor, pointer, size) == 0 ? unsafe getsockname(descriptor, pointer, &length) : -1
      }
    }
    if result != 0 { throw .current("bind") }
    return UInt16(bigEndian: address.sin_port)
  }

  private func record(_ bytes: [UInt8], isTCP: Bool) -> Query {
    state.withState { state in
      let query = Query(bytes: bytes, isTCP: isTCP, number: state.queries.count)
      state.queries.append(query)
      return query
    }
  }

  private func readDatagrams() {
    var buffer = [UInt8](repeating: 0, count: 4096)
    var from = sockaddr_in()
    while true {
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let count = unsafe withUnsafeMutablePointer(to: &from) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe recvfrom(udp, &buffer, buffer.count, 0, $0, &length)
        }
      }
      guard count > 0 else { return }
      let query = record(Array(buffer[..<count]), isTCP: false)
      let replies: [[UInt8]] =
        switch behaviour(query) {
        case .reply(let bytes): [bytes]
        case .replies(let list): list
        case .silence, .close: []
        }
      for reply in replies {
        let size = length
        _ = unsafe withUnsafePointer(to: &from) { pointer in
          unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            unsafe sendto(udp, reply, reply.count, 0, $0, size)
          }
        }
      }
    }
  }

  private func accept() {
    while true {
      let connection = Glibc.accept(tcp, nil, nil)
      guard connection >= 0 else { return }
      _ = fcntl(connection, F_SETFL, O_NONBLOCK)
      _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
      let watch = try? loop.watch(connection, for: .readable) { [weak self] _ in self?.readStream(connection) }
      if let watch { state.withState { $0.connections[connection] = watch } }
    }
  }

  private func readStream(_ connection: Int32) {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = unsafe read(connection, &buffer, buffer.count)
    guard count > 2 else { return end(connection) }
    var rest = buffer[..<count]
    while rest.count > 2 {
      let length = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
      let query = record(Array(rest.dropFirst(2).prefix(length)), isTCP: true)
      rest = rest.dropFirst(2 + length)
      let replies: [[UInt8]] =
        switch behaviour(query) {
        case .reply(let bytes): [bytes]
        case .replies(let list): list
        case .silence: []
        case .close: []
        }
      for reply in replies {
        let framed = Wire.word(UInt16(reply.count)) + reply
        _ = unsafe write(connection, framed, framed.count)
      }
      if case .close = behaviour(query) { return end(connection) }
    }
  }

  private func end(_ connection: Int32) {
    let watch = state.withState { $0.connections.removeValue(forKey: connection) }
    if let watch { loop.forget(watch) }
    close(connection)
  }
}
