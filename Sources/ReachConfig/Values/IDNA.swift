internal import CIDN2

/// International names (RFC 5891, Unicode TR46 without its transitional mapping), by libidn2.
enum IDNA {
  /// The name in A-labels and lower case, as it is asked for.
  static func query(_ name: String) throws(ValueError) -> String {
    var output: UnsafeMutablePointer<UInt8>?
    let flags = Int32(CIDN2_lookup_flags)
    let code = unsafe Array(name.utf8 + [0]).withUnsafeBufferPointer { input in
      unsafe idn2_lookup_u8(input.baseAddress, &output, flags)
    }
    defer { unsafe idn2_free(output) }
    guard code == CIDN2_ok, let output = unsafe output else {
      throw ValueError("\(quoted(name)) is no name that can be asked for: \(explain(code))")
    }
    return unsafe String(cString: output)
  }

  /// The name in U-labels, as people read it; nil when it has no such form.
  static func display(_ query: String) -> String? {
    var output: UnsafeMutablePointer<CChar>?
    let code = unsafe query.withCString { unsafe idn2_to_unicode_8z8z($0, &output, 0) }
    defer { unsafe idn2_free(output) }
    guard code == CIDN2_ok, let output = unsafe output else { return nil }
    return unsafe String(cString: output)
  }

  private static func explain(_ code: Int32) -> String {
    switch code {
    case CIDN2_too_big_label, CIDN2_big_output: "a label is longer than 63 octets in its A-label form; shorten it"
    case CIDN2_too_big_domain: "it is longer than 253 octets in its A-label form; shorten it"
    case CIDN2_invalid_alabel, CIDN2_alabel_roundtrip, CIDN2_punycode: "a label that begins with xn-- is not Punycode"
    default: unsafe "\(String(cString: idn2_strerror(code))); check its letters"
    }
  }
}
