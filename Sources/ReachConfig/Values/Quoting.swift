/// The text in quotes as a message shows it: on one line, and cut when it is long.
func quoted(_ text: some StringProtocol) -> String {
  var result = "'"
  var count = 0
  for scalar in text.unicodeScalars {
    guard count < 64 else { return result + "…'" }
    switch scalar {
    case "\n": result += "\\n"
    case "\t": result += "\\t"
    case "\r": result += "\\r"
    default:
      if scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value) {
        result += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    count += 1
  }
  return result + "'"
}

extension String {
  /// Whether it holds `://`, as a URL does.
  var hasScheme: Bool {
    guard let colon = utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
    var rest = utf8[colon...]
    while let next = rest.firstIndex(of: UInt8(ascii: ":")) {
      rest = rest[next...]
      if rest.starts(with: "://".utf8) { return true }
      rest = rest.dropFirst()
    }
    return false
  }
}

/// The candidate that the word is most like, if it is like one: at most a third of its letters differ.
func closest(to word: String, among candidates: some Sequence<String>) -> String? {
  let letters = Array(word.lowercased().utf8)
  guard !letters.isEmpty, letters.count <= 64 else { return nil }
  var best: (candidate: String, distance: Int)?
  for candidate in candidates {
    let other = Array(candidate.lowercased().utf8.prefix(65))
    let allowed = max(1, max(letters.count, other.count) / 3)
    guard abs(letters.count - other.count) <= allowed else { continue }
    let distance = editDistance(letters, other)
    // A word of one or two letters is like anything; it must then only differ in case.
    guard distance <= allowed, letters.count > 2 || distance == 0 else { continue }
    if best.map({ distance < $0.distance }) ?? true { best = (candidate, distance) }
  }
  return best?.candidate
}

/// How many letters must be put in, left out, replaced or swapped with their neighbour to turn one into the other.
private func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
  var before: [Int] = []
  var previous = Array(0...right.count)
  for (row, letter) in left.enumerated() {
    var current = [row + 1]
    current.reserveCapacity(right.count + 1)
    for (column, other) in right.enumerated() {
      var least = min(previous[column + 1] + 1, current[column] + 1, previous[column] + (letter == other ? 0 : 1))
      if row > 0, column > 0, letter == right[column - 1], other == left[row - 1] {
        least = min(least, before[column - 1] + 1)
      }
      current.append(least)
    }
    before = previous
    previous = current
  }
  return previous[right.count]
}
