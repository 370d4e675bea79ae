internal import CGnuTLS
internal import ReachCore

/// The names of which a client's certificate must have one among its alternative names (RFC 5280 section 4.2.1.6).
final class ClientNames {
  private let texts: Set<String>
  private let addresses: Set<IPAddress>

  init(_ names: [String]) {
    texts = Set(names)
    addresses = Set(names.compactMap { try? IPAddress(parsing: $0) })
  }

  /// Whether the certificate of the session's client has one.
  func hasOne(of session: OpaquePointer) -> Bool {
    unsafe CGnuTLS_each_name(session, compareName, Unmanaged.passUnretained(self).toOpaque()) != 0
  }

  /// Whether it is one of them: bytes of a host name, a mail address or a URI.
  func contains(text: some Sequence<UInt8>) -> Bool { texts.contains(String(decoding: Array(text), as: UTF8.self)) }

  /// Whether it is one of them: the four or sixteen bytes of an address.
  func contains(address: some Collection<UInt8>) -> Bool {
    IPAddress(octets: address).map { addresses.contains($0) } ?? false
  }
}

private func compareName(
  _ context: UnsafeMutableRawPointer?, _ kind: Int32, _ name: UnsafePointer<CChar>?, _ size: Int
) -> Int32 {
  guard let context = unsafe context, let name = unsafe name else { return 0 }
  let names = unsafe Unmanaged<ClientNames>.fromOpaque(context).takeUnretainedValue()
  let bytes = unsafe UnsafeRawBufferPointer(start: name, count: size)
  let isOne = unsafe kind == 1 ? names.contains(text: bytes) : names.contains(address: bytes)
  return isOne ? 1 : 0
}
