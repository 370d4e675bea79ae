import Glibc
import ReachCore
import ReachIO
import ReachTestSupport

/// The socket on which a service manager is told how a service does (sd_notify(3)).
final class NotifySocket: Sendable {
  let path: String
  private let descriptor: Descriptor
  private let heard: LoopConfined<[String]>

  /// Listens at a path in the folder. Throws what socket(2) or bind(2) failed with.
  init(in folder: TestFolder, on loop: EventLoop) throws {
    path = folder.path + "/notify"
    heard = LoopConfined([], on: loop)
    descriptor = Descriptor(
      owning: socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0))
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let name = Array(path.utf8)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
    let code = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor.number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard code == 0 else { throw SystemError.current("bind") }
  }

  /// All that has been said so far.
  var messages: [String] {
    heard.withState { heard in
      var buffer = [UInt8](repeating: 0, count: 4_096)
      while true {
        let count = unsafe recv(descriptor.number, &buffer, buffer.count, 0)
        guard count > 0 else { return heard }
        heard.append(String(decoding: buffer[..<count], as: UTF8.self))
      }
    }
  }
}
