import ReachTestSupport

@testable import EndToEndTools

/// What kustomize makes of `deploy/kubernetes`, as `kubectl apply -k` would send it.
enum KubernetesObjects {
  static let folder = Reachd.sources + "/deploy/kubernetes"

  /// The overlays that are delivered.
  static let overlays = ["node", "pod", "all", "example"]

  /// The text of all objects of an overlay. Throws with what kustomize says where it refuses the files.
  static func text(_ overlay: String) throws -> String {
    let kubectl = try program("kubectl")
    let ended = try runProgram([kubectl, "kustomize", "\(folder)/overlays/\(overlay)"])
    guard ended.isSuccess else { throw CommandFailure(description: ended.output) }
    return ended.output
  }

  /// The objects of an overlay.
  static func objects(_ overlay: String) throws -> [JSON] {
    let program = "import json, sys, yaml\nprint(json.dumps(list(yaml.safe_load_all(sys.stdin))))"
    let ended = try PythonPackages.run(program, input: try text(overlay))
    guard ended.isSuccess else { throw CommandFailure(description: ended.output) }
    return try JSON(parsing: ended.output).elements
  }

  /// Holds objects against the schemas, strictly; what is wrong is in the output.
  static func validate(_ text: String, for versions: [String]) throws -> ProgramResult {
    let tests = Reachd.sources + "/Tests/DeployTests/Kubernetes"
    let words = [try PythonPackages.interpreter(), tests + "/validate.py", tests + "/operator.schema.json"]
    return try runProgram(words + versions, input: text)
  }

  /// A program that is installed with the Python packages.
  private static func program(_ name: String) throws -> String {
    let interpreter = try PythonPackages.interpreter()
    return interpreter.replacingLast("python3", by: name)
  }
}

extension JSON {
  /// The value at a path of names, such as `spec.template.spec`; `0` is the first element of an array.
  func at(_ path: String) -> JSON? {
    path.split(separator: ".").reduce(self as JSON?) { value, step in
      if let index = Int(step) { value?[index] } else { value?[String(step)] }
    }
  }

  /// The only object of a kind, or the one of that name.
  static func only(_ kind: String, named name: String? = nil, in objects: [JSON]) -> JSON? {
    let found = objects.filter {
      $0["kind"]?.text == kind && (name == nil || $0.at("metadata.name")?.text == name)
    }
    return found.count == 1 ? found[0] : nil
  }
}

extension String {
  fileprivate func replacingLast(_ suffix: String, by other: String) -> String {
    hasSuffix(suffix) ? dropLast(suffix.count) + other : self
  }
}
