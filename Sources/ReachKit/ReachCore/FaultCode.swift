/// Why this host itself could not do its part: an errno (errno(3)), or a resolver's own code for running out of memory.
///
/// The names are the symbols of the C headers, since they are what an operator searches for.
public struct FaultCode: Hashable, Sendable, CustomStringConvertible {
  private enum Kind: Hashable, Sendable {
    case errno(Int32)
    case resolverMemory
  }

  private let kind: Kind

  private init(_ kind: Kind) { self.kind = kind }

  /// The fault of a positive errno; zero or a negative number becomes `EIO`, so that no reading of errno can trap.
  public init(errno number: Int32) { kind = .errno(number > 0 ? number : 5) }

  /// getaddrinfo's `EAI_MEMORY`: the resolver had no memory (getaddrinfo(3)).
  public static let resolverMemory = FaultCode(.resolverMemory)
  /// EINTR: a signal arrived first.
  public static let interrupted = FaultCode(.errno(4))

  /// The errno, or nil for a code that is none.
  public var errno: Int32? {
    if case .errno(let number) = kind { number } else { nil }
  }

  /// The symbol, such as `EMFILE`; `errno 4095` for a number Linux has no name for.
  public var name: String {
    switch kind {
    case .errno(let number): FaultCode.names[number] ?? "errno \(number)"
    case .resolverMemory: "EAI_MEMORY"
    }
  }

  /// The code with this symbol, or nil when there is none.
  public init?(name: String) {
    if name == "EAI_MEMORY" {
      self = .resolverMemory
    } else if let number = FaultCode.names.first(where: { $0.value == name })?.key {
      self.init(errno: number)
    } else {
      return nil
    }
  }

  /// The symbol.
  public var description: String { name }

  // asm-generic/errno-base.h and errno.h: these numbers are the same on every architecture reachd runs on.
  private static let names: [Int32: String] = [
    1: "EPERM", 2: "ENOENT", 3: "ESRCH", 4: "EINTR", 5: "EIO", 6: "ENXIO", 7: "E2BIG", 9: "EBADF", 11: "EAGAIN",
    12: "ENOMEM", 13: "EACCES", 14: "EFAULT", 16: "EBUSY", 17: "EEXIST", 19: "ENODEV", 20: "ENOTDIR", 21: "EISDIR",
    22: "EINVAL", 23: "ENFILE", 24: "EMFILE", 28: "ENOSPC", 30: "EROFS", 32: "EPIPE", 34: "ERANGE", 36: "ENAMETOOLONG",
    38: "ENOSYS",
    40: "ELOOP", 71: "EPROTO",
    75: "EOVERFLOW", 88: "ENOTSOCK", 90: "EMSGSIZE", 92: "ENOPROTOOPT", 93: "EPROTONOSUPPORT", 94: "ESOCKTNOSUPPORT",
    95: "EOPNOTSUPP", 97: "EAFNOSUPPORT", 98: "EADDRINUSE", 99: "EADDRNOTAVAIL", 100: "ENETDOWN", 101: "ENETUNREACH",
    102: "ENETRESET", 103: "ECONNABORTED", 104: "ECONNRESET", 105: "ENOBUFS", 106: "EISCONN", 107: "ENOTCONN",
    110: "ETIMEDOUT", 111: "ECONNREFUSED", 112: "EHOSTDOWN", 113: "EHOSTUNREACH", 114: "EALREADY", 115: "EINPROGRESS",
    125: "ECANCELED",
  ]
}
