public import ReachCore

extension Target {
  /// The target of a request to `/probe`: a host or an address, with or without a port, as in the short form of a
  /// declared target.
  ///
  /// Throws for anything else, such as a URL, a service's name for a port, or `default`.
  public init(probing text: String, policy: TargetPolicy) throws(ValueError) {
    try self.init(shortForm: text, policy: policy)
    if case .defaultPath = kind {
      throw ValueError("'default' is no host; write a host or an address, such as example.com:443")
    }
  }
}
