public import ReachCore

/// What a plugin says of itself once the handshake has been made.
public struct Registration: Sendable {
  /// The backend's name in the configuration, such as `tcp`.
  public let name: String
  /// The layer it looks at.
  public let layer: Layer
  /// The plugin's own version.
  public let version: String
  /// One line for people.
  public let summary: String
  /// What may be set, beside `timeout`, which the framework keeps for every backend.
  public let options: [ProbeOption]
  /// Makes a backend with these options, each of which is of the kind its declaration says; one backend serves every
  /// target whose options are the same. Called on the event loop.
  public let make: @Sendable (OptionValues, ProbeHost) throws(OptionError) -> any ProbeBackend

  /// A registration.
  public init(
    name: String, layer: Layer, version: String, summary: String, options: [ProbeOption],
    make: @escaping @Sendable (OptionValues, ProbeHost) throws(OptionError) -> any ProbeBackend
  ) {
    self.name = name
    self.layer = layer
    self.version = version
    self.summary = summary
    self.options = options
    self.make = make
  }
}

/// Carries a registration through the C entry point `reachd_plugin_registration`.
public final class RegistrationBox: Sendable {
  /// What is carried.
  public let registration: Registration
  /// A box around it.
  public init(_ registration: Registration) { self.registration = registration }

  /// The box as the entry point returns it: retained, for the agent to take over.
  public func retainedPointer() -> UnsafeMutableRawPointer { unsafe Unmanaged.passRetained(self).toOpaque() }
}

/// Options that a backend cannot work with although each is well formed.
public struct OptionError: Error, Hashable, Sendable {
  /// The option at fault.
  public let option: String
  /// What is wrong and what to do.
  public let message: String
  /// An error about that option.
  public init(option: String, message: String) {
    self.option = option
    self.message = message
  }
}
