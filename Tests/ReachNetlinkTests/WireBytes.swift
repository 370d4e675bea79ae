import ReachNetlink

/// Little-endian and network-order pieces of messages, for tests that spell out the wire. The machines reachd runs on
/// are little-endian; rtnetlink speaks the host's order but for addresses.
func u16(_ value: UInt16) -> [UInt8] { [UInt8(value & 0xff), UInt8(value >> 8)] }
func u32(_ value: UInt32) -> [UInt8] { u16(UInt16(value & 0xffff)) + u16(UInt16(value >> 16)) }

/// An attribute: its length, its type, its payload, padding to a multiple of four.
func attribute(_ type: Int, _ payload: [UInt8]) -> [UInt8] {
  let bytes = u16(UInt16(4 + payload.count)) + u16(UInt16(type)) + payload
  return bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
}

/// A text's octets and the NUL behind them.
func text(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }

/// A message: the header's length, type, flags, sequence and port, then the payload.
func message(
  _ type: Int, flags: UInt16 = 0, sequence: UInt32 = 1, port: UInt32 = 7, _ payload: [UInt8]
) -> [UInt8] {
  u32(UInt32(16 + payload.count)) + u16(UInt16(type)) + u16(flags) + u32(sequence) + u32(port) + payload
}

/// The messages of a datagram, decoded; an error in the place of one that is malformed.
func decode(_ bytes: [UInt8]) -> [Result<NetlinkMessage, MalformedMessage>] {
  let span = unsafe bytes.span.bytes
  var cursor = MessageCursor()
  var messages: [Result<NetlinkMessage, MalformedMessage>] = []
  while true {
    do throws(MalformedMessage) {
      guard let header = try cursor.next(in: span) else { return messages }
      messages.append(.success(try NetlinkMessage(header, in: span)))
    } catch {
      messages.append(.failure(error))
    }
  }
}

/// The one message of a datagram; nil when there is none, or it is malformed, or there are more.
func decodeOne(_ bytes: [UInt8]) -> NetlinkMessage? {
  let messages = decode(bytes)
  guard messages.count == 1, case .success(let message) = messages[0] else { return nil }
  return message
}
