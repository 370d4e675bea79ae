/// What the kernel allows as an interface's name (dev_valid_name in net/core/dev.c): at most 15 octets.
enum InterfaceName {
  static func check(_ text: String) throws(ValueError) {
    if text.isEmpty { throw ValueError("an interface's name is empty; write one such as eth0") }
    guard text.utf8.count <= 15 else {
      throw ValueError("\(quoted(text)) is longer than the 15 octets of an interface's name")
    }
    guard text != ".", text != "..", text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f && $0 != 0x2f && $0 != 0x3a })
    else {
      throw ValueError("\(quoted(text)) is not an interface's name; it has no spaces, slashes and colons")
    }
  }
}
