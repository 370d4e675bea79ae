internal import ReachCore
internal import ReachIO

extension DNSExchange {
  /// Asks over a connection, each message with its length before it (RFC 1035 section 4.2.2, RFC 7766).
  func askOverTCP() async -> Course {
    let socket: Socket
    do throws(Dial.Failure) { socket = try await dial.connect() } catch {
      return Course(result: .failure(DNSFailure(error)))
    }
    defer { socket.close() }
    let stream = PlainStream(socket: socket, deadline: dial.deadline, loop: loop)
    guard let security else { return await ask(over: stream) }
    do throws(StreamFailure) {
      let secured = try await TLSStream.begin(
        over: stream, security.settings, name: security.name, try security.credentials.loaded(security.settings))
      defer { secured.sayGoodbye() }
      return await ask(over: secured)
    } catch {
      return Course(result: .failure(DNSFailure(error)))
    }
  }

  private func ask(over stream: some ByteStream) async -> Course {
    let sentAt = loop.now()
    let result = await result(over: stream)
    return Course(result: result, request: loop.now().since(sentAt))
  }

  private func result(over stream: some ByteStream) async -> Result<DNSReader, DNSFailure> {
    let id = Self.newID()
    let query = message.bytes(id: id)
    do throws(DNSFailure) {
      let length = [UInt8(truncatingIfNeeded: query.count >> 8), UInt8(truncatingIfNeeded: query.count)]
      do throws(StreamFailure) { try await stream.write(length + query) } catch { throw DNSFailure(error) }
      let head = try await read(2, from: stream)
      let count = head.reduce(0) { $0 << 8 | Int($1) }
      let reader = DNSReader(try await read(count, from: stream))
      return message.isAnswered(by: reader, id: id) ? .success(reader) : .failure(.foreign)
    } catch {
      return .failure(error)
    }
  }

  private func read(_ count: Int, from stream: some ByteStream) async throws(DNSFailure) -> [UInt8] {
    var octets: [UInt8] = []
    while octets.count < count {
      let more: [UInt8]
      do throws(StreamFailure) { more = try await stream.read(upTo: count - octets.count) } catch {
        throw DNSFailure(error)
      }
      if more.isEmpty { throw .closed }
      octets += more
    }
    return octets
  }
}
