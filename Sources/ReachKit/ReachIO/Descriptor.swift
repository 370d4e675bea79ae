internal import Glibc

/// Sole owner of an open file descriptor.
///
/// `close()` is the way to end it and reports what close(2) says; leaving scope closes it too, as a backstop that can
/// report nothing. Use on any thread, one at a time.
public struct Descriptor: ~Copyable, Sendable {
  /// The descriptor's number, valid while this value lives.
  public let number: Int32

  /// Takes ownership of an open descriptor.
  public init(owning number: Int32) { self.number = number }

  deinit { _ = Glibc.close(number) }

  /// Closes the descriptor. It is gone whatever is thrown, and never closed twice (close(2), "Dealing with error
  /// returns"): repeating the call could close a descriptor that another part of the process has just been given.
  public consuming func close() throws(SystemError) {
    let number = self.number
    discard self
    if Glibc.close(number) != 0, errno != EINTR { throw SystemError.current("close") }
  }

  /// Gives up ownership: the caller must see to closing the number that is returned.
  public consuming func release() -> Int32 {
    let number = self.number
    discard self
    return number
  }
}
