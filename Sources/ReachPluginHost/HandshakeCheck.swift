internal import CReachPlugin
internal import Glibc

/// Compares a plugin's handshake with the agent's own. Nothing beyond `size` is read before the magic has been seen.
enum HandshakeCheck {
  static func check(
    _ theirs: UnsafePointer<CReachPlugin_Handshake>, against ours: UnsafePointer<CReachPlugin_Handshake>
  ) throws(PluginRefusal) {
    let (magic, size) = unsafe (theirs.pointee.magic, theirs.pointee.size)
    guard unsafe magic == ours.pointee.magic else {
      throw PluginRefusal("is no reachd plugin: its handshake begins with \(hexadecimal(magic))")
    }
    guard unsafe size == ours.pointee.size else {
      throw unsafe PluginRefusal(
        "its handshake has \(size) bytes where this reachd has \(ours.pointee.size): rebuild it against this reachd")
    }
    let (interface, ourInterface) = unsafe (theirs.pointee.interface, ours.pointee.interface)
    guard interface == ourInterface else {
      throw PluginRefusal(
        "was built for plugin interface \(interface), this reachd has \(ourInterface): "
          + (interface < ourInterface ? "rebuild the plugin against this reachd" : "use a newer reachd"))
    }
    guard let compiler = unsafe text(theirs.pointee.compiler) else {
      throw PluginRefusal("does not say which compiler built it: rebuild the plugin")
    }
    let ourCompiler = unsafe text(ours.pointee.compiler) ?? ""
    guard compiler == ourCompiler else {
      throw PluginRefusal(
        "was built with another compiler (\(compiler)) than this reachd (\(ourCompiler)): "
          + "rebuild it with the same Swift toolchain")
    }
  }

  private static func text(_ pointer: UnsafePointer<CChar>?) -> String? {
    guard let pointer = unsafe pointer else { return nil }
    let length = unsafe strnlen(pointer, 1024)
    return unsafe String(decoding: UnsafeRawBufferPointer(start: pointer, count: length), as: UTF8.self)
  }

  private static func hexadecimal(_ number: UInt32) -> String {
    let digits = String(number, radix: 16)
    return "0x" + String(repeating: "0", count: 8 - digits.count) + digits
  }
}
