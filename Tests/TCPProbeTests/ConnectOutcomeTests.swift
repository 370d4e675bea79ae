import Glibc
import ReachCore
import ReachIO
import Testing

@testable import TCPProbe

@Suite struct ConnectOutcomeTests {
  @Test(
    "an errno of connect(2) itself is this host's decision or its fault",
    arguments: [
      (ECONNREFUSED, .failed(.tcpRefused), .failed(.tcpRefused)),
      (ETIMEDOUT, .failed(.tcpTimeout), .failed(.tcpTimeout)),
      (ENETUNREACH, .refusedLocally(code(ENETUNREACH)), .refusedLocally(code(ENETUNREACH))),
      (EHOSTUNREACH, .refusedLocally(code(EHOSTUNREACH)), .refusedLocally(code(EHOSTUNREACH))),
      (EACCES, .refusedLocally(code(EACCES)), .refusedLocally(code(EACCES))),
      (EINVAL, .refusedLocally(code(EINVAL)), .refusedLocally(code(EINVAL))),
      (ENETDOWN, .refusedLocally(code(ENETDOWN)), .refusedLocally(code(ENETDOWN))),
      (ENODEV, .refusedLocally(code(ENODEV)), .refusedLocally(code(ENODEV))),
      (EADDRNOTAVAIL, .refusedLocally(code(EADDRNOTAVAIL)), .fault(code(EADDRNOTAVAIL))),
      (EMFILE, .fault(code(EMFILE)), .fault(code(EMFILE))),
      (ENFILE, .fault(code(ENFILE)), .fault(code(ENFILE))),
      (ENOBUFS, .fault(code(ENOBUFS)), .fault(code(ENOBUFS))),
      (ENOMEM, .fault(code(ENOMEM)), .fault(code(ENOMEM))),
      (EPERM, .fault(code(EPERM)), .fault(code(EPERM))),
      (EAGAIN, .fault(code(EAGAIN)), .fault(code(EAGAIN))),
      (EADDRINUSE, .fault(code(EADDRINUSE)), .fault(code(EADDRINUSE))),
      (EAFNOSUPPORT, .fault(code(EAFNOSUPPORT)), .fault(code(EAFNOSUPPORT))),
      (4095, .fault(code(4095)), .fault(code(4095))),
    ] as [(Int32, TCPFinding.Result, TCPFinding.Result)])
  func immediate(number: Int32, unknownRoute: TCPFinding.Result, fineRoute: TCPFinding.Result) {
    #expect(ConnectOutcome.immediate(code(number), isRouteFine: false) == unknownRoute)
    #expect(ConnectOutcome.immediate(code(number), isRouteFine: true) == fineRoute)
  }

  @Test(
    "an errno that comes later is the network's answer",
    arguments: [
      (ECONNREFUSED, .failed(.tcpRefused)), (ECONNRESET, .failed(.tcpRefused)), (EPIPE, .failed(.tcpRefused)),
      (ECONNABORTED, .failed(.tcpRefused)), (ENOPROTOOPT, .failed(.tcpRefused)), (EPROTO, .failed(.tcpRefused)),
      (ETIMEDOUT, .failed(.tcpTimeout)),
      (EHOSTUNREACH, .failed(.tcpHostUnreachable)), (EHOSTDOWN, .failed(.tcpHostUnreachable)),
      (ENONET, .failed(.tcpHostUnreachable)), (EOPNOTSUPP, .failed(.tcpHostUnreachable)),
      (ENETUNREACH, .failed(.tcpNetUnreachable)),
      (EACCES, .failed(.tcpAdminProhibited)), (EPERM, .failed(.tcpAdminProhibited)),
      (ENOBUFS, .fault(code(ENOBUFS))), (ENOMEM, .fault(code(ENOMEM))),
    ] as [(Int32, TCPFinding.Result)])
  func later(number: Int32, expected: TCPFinding.Result) {
    #expect(ConnectOutcome.later(code(number), icmp: nil) == expected)
  }

  @Test("of ICMPv4's unreachables, codes 9, 10 and 13 say that it is prohibited")
  func prohibitions() {
    for icmpCode in UInt8(0)...15 {
      let isProhibited = [9, 10, 13].contains(icmpCode)
      for (number, otherwise) in [(EHOSTUNREACH, Reason.tcpHostUnreachable), (ENETUNREACH, .tcpNetUnreachable)] {
        let result = ConnectOutcome.later(code(number), icmp: QueuedError.ICMP(type: 3, code: icmpCode))
        #expect(result == .failed(isProhibited ? .tcpAdminProhibited : otherwise))
      }
    }
    // Time exceeded, and ICMPv6's "address unreachable".
    for icmp in [QueuedError.ICMP(type: 11, code: 0), QueuedError.ICMP(type: 1, code: 3)] {
      #expect(ConnectOutcome.later(code(EHOSTUNREACH), icmp: icmp) == .failed(.tcpHostUnreachable))
    }
  }
}

private func code(_ number: Int32) -> FaultCode { FaultCode(errno: number) }
