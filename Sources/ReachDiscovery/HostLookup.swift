public import ReachCore
public import ReachIO

/// The addresses of a host, as this system resolves names.
public enum HostLookup {
  /// Why there is no address.
  public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// For people.
    public let description: String
  }

  /// The addresses of a name, of which there is at least one. Call it from a task on the loop. Throws why there is none
  /// by the deadline.
  public static func addresses(
    of name: String, until deadline: Instant, on loop: EventLoop
  ) async throws(Failure) -> [IPAddress] {
    let addresses: [IPAddress]
    do throws(LookupFailure) {
      addresses = try await NameLookup.addresses(of: name, until: deadline, on: loop)
    } catch {
      throw Failure(description: "the name \(name) cannot be resolved: \(error.message)")
    }
    guard !addresses.isEmpty else { throw Failure(description: "the name \(name) has no address") }
    return addresses
  }
}
