internal import ReachCore
internal import ReachProbe

extension Configuration {
  /// The target of a command line's `TARGET`: the one of this name, or else the one that this short form makes, with
  /// the file's defaults and the usual probes.
  ///
  /// Throws when the text is neither, or needs a backend that the file leaves out.
  public func target(parsing text: String) throws(ValueError) -> ConfiguredTarget {
    if let declared = targets.first(where: { $0.target.name == text }) { return declared }
    let target = try Target(shortForm: text, policy: defaults.capped)
    let probes = ProbesReader(problems: ProblemList(file: ""), backends: backendDefaults, areListed: true)
    return ConfiguredTarget(target: target, probes: try probes.standard(for: target))
  }
}
