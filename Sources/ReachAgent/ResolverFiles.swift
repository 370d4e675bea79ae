internal import ReachCore
internal import ReachIO
internal import ReachLog

/// The files that say how this host resolves names, watched so that a change of them need not wait for an interval.
///
/// Isolation: on the event loop.
final class ResolverFiles: Sendable {
  /// resolv.conf(5), hosts(5) and nsswitch.conf(5). The last is of use to backends that resolve as the C library does.
  static let paths = ["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf"]

  private let watch: FileWatch

  /// Calls `onChange` after each burst of changes.
  init(on loop: EventLoop, _ onChange: @escaping @Sendable () -> Void) {
    watch = FileWatch(on: loop)
    watch.add(Self.paths) { _ in onChange() }
  }

  /// Looks at the files, and calls `onChange` if they have changed without a word.
  func recheck() { watch.recheck() }

  /// What to tell the operator when changes are not noticed at once; nil when they are.
  var selfCheck: LogEvent? {
    guard let limitation = watch.limitation else { return nil }
    return .noticedLate("changes of resolv.conf and hosts are", limitation, in: "/etc")
  }
}
