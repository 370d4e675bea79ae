/// A place in a table, or none, in half a word.
struct Place: Hashable {
  private let raw: Int32

  static let none = Place(raw: -1)

  private init(raw: Int32) { self.raw = raw }
  init(_ index: Int) { raw = Int32(clamping: index) }

  /// The index; nil for none.
  var index: Int? { raw < 0 ? nil : Int(raw) }
}
