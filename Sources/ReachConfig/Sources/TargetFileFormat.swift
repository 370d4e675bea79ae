/// How a list of targets is written.
public enum TargetFileFormat: Hashable, Sendable {
  /// JSON (RFC 8259).
  case json
  /// YAML.
  case yaml

  /// The format that the ending of a file's name tells; nil for any other than `.json`, `.yml` and `.yaml`.
  public init?(path: String) {
    let ending = path.lowercased()
    if ending.hasSuffix(".json") {
      self = .json
    } else if ending.hasSuffix(".yml") || ending.hasSuffix(".yaml") {
      self = .yaml
    } else {
      return nil
    }
  }
}
