internal import ReachCore

/// How several ways to one target combine.
extension Question {
  /// The verdict over every candidate that stands for the target.
  ///
  /// Under `any` the best way decides: one the rule calls reachable, then configd's rank, then the first. When none can
  /// be reached and one was not tested, nothing is known. When all failed, the one that got furthest names the reason.
  /// Under `all` the first that failed decides, and one that was not tested only where none failed.
  func addressVerdict(_ candidates: [Candidate]) -> Verdict {
    var tally = Tally()
    for candidate in candidates where candidate.role == .target {
      let assessment = assess(candidate)
      let isReachable = isReachable(assessment)
      if !isPathOnly, let address = candidate.address {
        tally.list(assessment, address, isReachable: isReachable)
      }
      // The default path is asked about in both families; of two that are as good, IPv4 speaks.
      let isPreferred = kind == .defaultPath && candidate.address?.family == .ipv4
      tally.add(assessment, isReachable: isReachable, isPreferred: isPreferred)
    }
    let decisive =
      (needsAllAddresses ? tally.decisiveOfAll : tally.decisiveOfAny) ?? Assessment(nil, missingReason, .address)
    return verdict(decisive, addresses: tally.addresses)
  }
}

/// The candidates of one target, counted one after another.
private struct Tally {
  /// The best that is known of, the first of equals.
  private var best: Assessment?
  private var bestScore = Int.min
  private var isBestReachable = false
  /// The first that is known to have failed.
  private var firstFailed: Assessment?
  /// The first that this host did not get to test, by preference one that says why.
  private var untested: Assessment?
  private(set) var addresses: [AddressVerdict] = []

  mutating func list(_ assessment: Assessment, _ address: IPAddress, isReachable: Bool) {
    let state: AddressVerdict.State =
      assessment.flags == nil ? .untested : isReachable ? .reachable : .unreachable
    addresses.append(AddressVerdict(address: address, state: state, reason: assessment.reason))
  }

  mutating func add(_ assessment: Assessment, isReachable: Bool, isPreferred: Bool) {
    guard assessment.flags != nil else {
      if untested == nil || (untested?.reason == .notProbed && assessment.reason != .notProbed) {
        untested = assessment
      }
      return
    }
    if !isReachable { firstFailed = firstFailed ?? assessment }
    // How far it got tells apart only those that did not get through at all.
    let progress = assessment.rank == 0 ? assessment.stage.rawValue : 0
    let score = (isReachable ? 1000 : 0) + assessment.rank * 100 + progress * 10 + (isPreferred ? 1 : 0)
    guard score > bestScore else { return }
    best = assessment
    bestScore = score
    isBestReachable = isReachable
  }

  /// One that was not tested might be the one that can be reached, so without one that is, nothing is known.
  var decisiveOfAny: Assessment? { isBestReachable ? best : untested ?? best }

  /// One that failed settles it.
  var decisiveOfAll: Assessment? { firstFailed ?? untested ?? best }
}
