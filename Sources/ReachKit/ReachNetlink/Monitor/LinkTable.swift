internal import ReachCore

/// The interfaces of a network namespace, by index and by name. A value: it follows the messages it is given.
///
/// An index stands for one interface as long as it lives; a name may move from one interface to another. So the index
/// is what everything hangs on, and a name is looked up each time.
struct LinkTable {
  private(set) var links: [Int32: LinkAttributes] = [:]
  private var indices: [String: Int32] = [:]

  /// Whether a tunnel with a known far end is among them.
  private(set) var hasTunnels = false

  /// The interface of that name, or of that alternative name.
  func link(named name: String) -> LinkAttributes? {
    guard let index = indices[name] else { return nil }
    return links[index]
  }

  /// Takes in what a message says of an interface. Returns whether that is news.
  mutating func update(_ link: LinkAttributes) -> Bool {
    guard links[link.index] != link else { return false }
    if let old = links[link.index] { forgetNames(of: old) }
    links[link.index] = link
    for name in [link.name] + link.alternativeNames where !name.isEmpty { indices[name] = link.index }
    hasTunnels = hasTunnels || link.tunnel != nil
    return true
  }

  /// Takes an interface out. Returns whether it was there.
  mutating func remove(index: Int32) -> Bool {
    guard let old = links.removeValue(forKey: index) else { return false }
    forgetNames(of: old)
    hasTunnels = links.values.contains { $0.tunnel != nil }
    return true
  }

  /// Puts these interfaces in the place of all before; `keepingOthers` leaves those that are not among them.
  mutating func replaceAll(with fresh: [LinkAttributes], keepingOthers: Bool = false) {
    if !keepingOthers { self = LinkTable() }
    for link in fresh { _ = update(link) }
  }

  /// The indices of the interfaces that are in one of the two only, or look different, in order.
  func differences(from old: LinkTable) -> [Int32] {
    var indices = links.values.filter { old.links[$0.index] != $0 }.map(\.index)
    indices += old.links.keys.filter { links[$0] == nil }
    return indices.sorted()
  }

  /// A name is left alone when another interface has taken it in the meantime.
  private mutating func forgetNames(of link: LinkAttributes) {
    for name in [link.name] + link.alternativeNames where indices[name] == link.index { indices[name] = nil }
  }
}
