public import CReachPlugin
internal import GreetingProbe
internal import ReachProbe

/// The handshake of CReachPlugin.h: which interface and which compiler this plugin was built with.
@c(reachd_plugin_handshake)
public func handshake() -> UnsafePointer<CReachPlugin_Handshake> { unsafe CReachPlugin_own_handshake() }

/// What this plugin registers: a retained `RegistrationBox`, called once the handshake has been found to agree.
@c(reachd_plugin_registration)
public func registration() -> UnsafeMutableRawPointer {
  unsafe RegistrationBox(GreetingProbe.registration).retainedPointer()
}
