import Glibc
import ReachIO
import Testing

@Suite struct DescriptorTests {
  @Test("leaving scope closes, and so does close(), which reports what the kernel says of a number that is not open")
  func closes() throws {
    var number: Int32 = -1
    do {
      let descriptor = Descriptor(owning: try openNull())
      number = descriptor.number
      #expect(refersToNull(number))
    }
    #expect(!refersToNull(number))

    let descriptor = Descriptor(owning: try openNull())
    number = descriptor.number
    try descriptor.close()
    #expect(!refersToNull(number))

    #expect(throws: SystemError.self) { try Descriptor(owning: Int32.max).close() }
  }

  @Test("a released descriptor stays open, for its new owner to close")
  func releases() throws {
    let descriptor = Descriptor(owning: try openNull())
    let number = descriptor.release()
    #expect(refersToNull(number))
    #expect(close(number) == 0)
  }
}

// The high numbers that F_DUPFD asks for are not handed out to tests that run beside this one.
private let highNumber: Int32 = 900

private func openNull() throws -> Int32 {
  let low = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
  defer { _ = close(low) }
  return try retryingInterrupts("fcntl") { fcntl(low, F_DUPFD_CLOEXEC, highNumber) }
}

private func refersToNull(_ number: Int32) -> Bool { fcntl(number, F_GETFD) >= 0 }
