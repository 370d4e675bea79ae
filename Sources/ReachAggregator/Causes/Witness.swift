internal import ReachCore

/// A gateway or a name server that targets depend on, with what their newest words say of it.
struct Witness {
  let cause: Cause
  /// Targets and faults that refer to it.
  var references = 0
  /// Targets whose newest word is that it works.
  var works = 0
  /// Targets whose newest word is that their own connection stayed silent.
  var silent = 0
  /// When the newest round began in which it worked.
  var workedAt = Instant(nanoseconds: .min)
  /// The faults that an answer by it acquits.
  var faults: [Int] = []
  /// The faults of name servers behind it.
  var behind: [Int] = []

  mutating func count(_ word: CauseEvidence.Word, _ step: Int) {
    switch word {
    case .works: works += step
    case .silent: silent += step
    case .nothing, .serverSilent: break
    }
  }
}

/// What one target has to say of one witness.
struct Testimony {
  var witness = Place.none
  var word = CauseEvidence.Word.nothing
}

/// Every witness once, as long as anything refers to it.
struct WitnessTable {
  private var rows: [Witness] = []
  private var free: [Place] = []
  private var places: [Cause: Place] = [:]

  subscript(index: Int) -> Witness {
    _read { yield rows[index] }
    _modify { yield &rows[index] }
  }

  /// The place of the witness, if anything refers to it.
  func place(of cause: Cause) -> Int? { places[cause]?.index }

  /// The place of the witness, with one more reference to it.
  mutating func hold(_ cause: Cause) -> Int {
    let index: Int
    if let known = places[cause]?.index {
      index = known
    } else if let reused = free.popLast()?.index {
      index = reused
      rows[index] = Witness(cause: cause)
    } else {
      index = rows.count
      rows.append(Witness(cause: cause))
    }
    places[cause] = Place(index)
    rows[index].references += 1
    return index
  }

  /// One reference less.
  mutating func release(_ index: Int) {
    rows[index].references -= 1
    guard rows[index].references == 0 else { return }
    places[rows[index].cause] = nil
    free.append(Place(index))
  }
}
