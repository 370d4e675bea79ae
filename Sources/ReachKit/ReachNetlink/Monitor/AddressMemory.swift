internal import ReachCore

/// Tells news of this host's addresses from repetition: a router's advertisement or a renewed lease has the kernel tell
/// of an address anew though only its lifetime is another.
///
/// It knows what it was told, and that is all it needs: an address told for the first time is taken for news.
struct AddressMemory: Sendable {
  private struct Known: Hashable {
    var flags: UInt32
    var scope: UInt8
  }

  private struct Key: Hashable {
    var interface: Int32
    var address: IPAddress
    var prefixLength: UInt8
  }

  private var known: [Key: Known] = [:]

  /// Bounds the memory; beyond it everything is forgotten, and is news again.
  static let capacity = 4096

  /// Takes in what a message says. Returns whether that is news; the end of an address always is.
  mutating func take(_ address: AddressMessage, isRemoval: Bool) -> Bool {
    let key = Key(interface: address.interface, address: address.address, prefixLength: address.prefixLength)
    if isRemoval {
      known[key] = nil
      return true
    }
    let fresh = Known(flags: address.flags, scope: address.scope)
    if known[key] == fresh { return false }
    if known.count >= Self.capacity { known.removeAll(keepingCapacity: true) }
    known[key] = fresh
    return true
  }

  /// Forgets the addresses of an interface that is gone.
  mutating func forget(interface: Int32) {
    guard !known.isEmpty else { return }
    known = known.filter { $0.key.interface != interface }
  }

  /// Forgets everything: messages were lost.
  mutating func forget() { known.removeAll(keepingCapacity: true) }
}
