import Glibc
import ReachIO

/// Both ends of a pipe, closed with it.
struct Pipe: ~Copyable {
  let reading: Int32
  let writing: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    if unsafe pipe(&ends) != 0 { throw SystemError.current("pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    reading = ends[0]
    writing = ends[1]
  }

  func put() { _ = unsafe write(writing, "x", 1) }

  deinit {
    _ = close(reading)
    _ = close(writing)
  }
}
