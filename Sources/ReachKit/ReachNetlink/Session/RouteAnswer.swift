public import ReachCore

/// What the kernel said to a route query.
public enum RouteAnswer: Hashable, Sendable {
  /// A route.
  case route(RouteMessage)
  /// The errno of the kernel's own decision, carried by its reply.
  case refused(FaultCode)
  /// The request did not get through, or its reply could not be understood: nothing is known of the route.
  case fault(FaultCode)
}
