internal import CReachLinux
internal import ReachCore

/// One attribute (struct rtattr, rtnetlink(7)): its type without the flag bits, and where its payload lies.
struct Attribute {
  let type: Int
  let payload: Range<Int>
}

/// Steps through the attributes of a message, or those nested in an attribute.
struct AttributeCursor {
  private var offset: Int
  private let end: Int
  /// The type of the message that is read, for what errors say.
  let messageType: UInt16

  /// The attributes from `offset` to `end`, in a message of that type.
  init(from offset: Int, to end: Int, messageType: UInt16) {
    self.offset = offset
    self.end = end
    self.messageType = messageType
  }

  /// The attributes nested in `attribute`.
  init(in attribute: Attribute, messageType: UInt16) {
    self.init(from: attribute.payload.lowerBound, to: attribute.payload.upperBound, messageType: messageType)
  }

  /// The next attribute, or nil at the end. A length below that of an attribute's own header, 0 among them, is an end
  /// too: stepping by it would stand still. One that goes past the end throws.
  mutating func next(in bytes: RawSpan) throws(MalformedMessage) -> Attribute? {
    let headerSize = MemoryLayout<rtattr>.size
    guard offset <= end &- headerSize, let length = bytes.half(at: offset), let type = bytes.half(at: offset &+ 2)
    else { return nil }
    guard Int(length) >= headerSize else { return nil }
    let kind = type & ~UInt16(truncatingIfNeeded: NLA_F_NESTED | NLA_F_NET_BYTEORDER)
    guard Int(length) <= end &- offset else {
      throw MalformedMessage(.attributeLength, messageType: messageType, attribute: kind)
    }
    let payload = (offset &+ headerSize)..<(offset &+ Int(length))
    offset &+= aligned(Int(length))
    return Attribute(type: Int(kind), payload: payload)
  }

  /// The attribute's 32 bits; throws when it has fewer.
  func word(_ attribute: Attribute, in bytes: RawSpan) throws(MalformedMessage) -> UInt32 {
    guard attribute.payload.count >= 4, let value = bytes.word(at: attribute.payload.lowerBound) else {
      throw wrongSize(attribute)
    }
    return value
  }

  /// The attribute's 32 bits as an interface's index; throws when it has fewer.
  func index(_ attribute: Attribute, in bytes: RawSpan) throws(MalformedMessage) -> Int32 {
    Int32(bitPattern: try word(attribute, in: bytes))
  }

  /// The attribute's octet; throws when it has none.
  func octet(_ attribute: Attribute, in bytes: RawSpan) throws(MalformedMessage) -> UInt8 {
    guard !attribute.payload.isEmpty, let value = bytes.octet(at: attribute.payload.lowerBound) else {
      throw wrongSize(attribute)
    }
    return value
  }

  /// The attribute as an address of either family; throws when it is neither 4 octets nor 16.
  func address(_ attribute: Attribute, in bytes: RawSpan) throws(MalformedMessage) -> IPAddress {
    guard let value = bytes.address(in: attribute.payload) else { throw wrongSize(attribute) }
    return value
  }

  /// The attribute as an address of that family; throws when its length is not that of the family's addresses.
  func address(
    _ attribute: Attribute, of family: IPAddress.Family, in bytes: RawSpan
  ) throws(MalformedMessage) -> IPAddress {
    guard attribute.payload.count == family.octetCount else { throw wrongSize(attribute) }
    return try address(attribute, in: bytes)
  }

  /// The error of an attribute whose length is not what its type has.
  func wrongSize(_ attribute: Attribute) -> MalformedMessage {
    MalformedMessage(
      .attributeSize, messageType: messageType, attribute: UInt16(truncatingIfNeeded: attribute.type))
  }
}
