internal import ReachConfig
internal import ReachCore

/// The targets that are watched, in their order, and the key that each is known by while it is.
///
/// A key is a place in tables that run along the roster's: dense, kept for as long as a target of that name is watched,
/// and given again afterwards.
struct Roster {
  /// Where a target is declared.
  enum Origin {
    /// In the configuration itself.
    case declared
    /// In a list that the configuration names.
    case discovered
  }

  private(set) var declared: [WatchedTarget] = []
  private(set) var discovered: [WatchedTarget] = []
  private var places: [WatchedTarget?] = []
  private var free: [Int] = []
  private var names: [String: Int] = [:]

  /// All targets: the declared ones in the order of the file, then those that were discovered.
  var all: [WatchedTarget] { declared + discovered }

  var count: Int { declared.count + discovered.count }

  /// The target with that key.
  subscript(key: Int) -> WatchedTarget? { places.indices.contains(key) ? places[key] : nil }

  /// The target of that name.
  subscript(name: String) -> WatchedTarget? { names[name].flatMap { self[$0] } }

  /// A key for a target that is about to be taken in.
  mutating func takeKey() -> Int {
    if let key = free.popLast() { return key }
    places.append(nil)
    return places.count - 1
  }

  /// Has these targets watched from now on, instead of those of the same origin and of any that is named in `removed`.
  mutating func set(_ origin: Origin, to targets: [WatchedTarget], removing removed: [WatchedTarget]) {
    for target in removed {
      places[target.key] = nil
      names[target.target.name] = nil
      free.append(target.key)
    }
    for target in targets {
      places[target.key] = target
      names[target.target.name] = target.key
    }
    switch origin {
    case .declared:
      declared = targets
      // One that is declared now is no discovered one any more.
      let taken = Set(targets.map(\.key))
      discovered.removeAll { taken.contains($0.key) }
    case .discovered: discovered = targets
    }
  }
}
