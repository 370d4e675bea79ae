internal import Glibc
internal import ReachCore

extension Socket {
  /// Sends octets to the connected peer (send(2)) and says how many the kernel has taken: all of a datagram, perhaps
  /// fewer of a stream; nil when it takes none now, until the socket is writable. SIGPIPE is not raised.
  ///
  /// Throws any other errno, such as `EPIPE`, or an error that has come in since the last call, such as `ECONNREFUSED`.
  public func send(_ octets: some Collection<UInt8>) throws(SystemError) -> Int? {
    let sent =
      unsafe octets.withContiguousStorageIfAvailable { unsafe sendOnce(UnsafeRawBufferPointer($0)) }
      ?? Array(octets).withUnsafeBytes { unsafe sendOnce($0) }
    if sent >= 0 { return sent }
    if errno == EAGAIN || errno == EWOULDBLOCK { return nil }
    throw SystemError.current("send")
  }

  private func sendOnce(_ octets: UnsafeRawBufferPointer) -> Int {
    while true {
      let sent = unsafe Glibc.send(number, octets.baseAddress, octets.count, Int32(MSG_NOSIGNAL))
      if sent >= 0 || errno != EINTR { return sent }
    }
  }

  /// Receives what is there (recv(2)), a datagram or what a stream has up to that many octets; nil when there is nothing
  /// yet, until the socket is readable. From a stream, no octets at all mean that the peer has ended it.
  ///
  /// Throws any other errno, such as `ECONNREFUSED` or `ECONNRESET`.
  public func receive(upTo count: Int) throws(SystemError) -> [UInt8]? {
    var received = -1
    let octets = unsafe [UInt8](unsafeUninitializedCapacity: max(1, count)) { buffer, length in
      repeat {
        received = unsafe recv(number, buffer.baseAddress, buffer.count, 0)
      } while received < 0 && errno == EINTR
      length = max(0, received)
    }
    if received >= 0 { return octets }
    if errno == EAGAIN || errno == EWOULDBLOCK { return nil }
    throw SystemError.current("recv")
  }
}
