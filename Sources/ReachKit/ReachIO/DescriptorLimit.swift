internal import Glibc

/// How many descriptors this process may open (RLIMIT_NOFILE, getrlimit(2)).
public enum DescriptorLimit {
  /// Raises the soft limit to the hard one, as far as `ceiling`, and returns what holds then.
  ///
  /// The soft limit is low for the sake of programs that use select(2); this one does not. Where it cannot be raised it
  /// stays as it is.
  public static func raise(upTo ceiling: Int = 1 << 20) -> Int {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
    let wanted = min(limit.rlim_max, rlim_t(ceiling))
    if limit.rlim_cur < wanted {
      var raised = limit
      raised.rlim_cur = wanted
      if unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) == 0 { limit = raised }
    }
    return Int(clamping: limit.rlim_cur)
  }
}
