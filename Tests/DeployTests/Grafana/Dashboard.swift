import ReachTestSupport
import Testing

@testable import EndToEndTools

/// A delivered dashboard of Grafana's.
struct Dashboard {
  /// Every one there is, by its path.
  static var paths: [String] {
    get throws { try Repository.files(in: "deploy/grafana").filter { $0.hasSuffix(".json") } }
  }

  let path: String
  let json: JSON

  init(_ path: String) throws {
    self.path = path
    json = try JSON(parsing: Repository.text(path))
  }

  var uid: String { json["uid"]?.text ?? "" }

  /// The panels that show something, those of folded rows as well.
  var panels: [JSON] { Self.panels(of: json).filter { $0["type"]?.text != "row" } }

  /// The panels and the rows between them.
  var placed: [JSON] { Self.panels(of: json) }

  private static func panels(of json: JSON) -> [JSON] {
    (json["panels"]?.elements ?? []).flatMap { [$0] + panels(of: $0) }
  }

  var variables: [JSON] { json["templating"]?["list"]?.elements ?? [] }
  var annotations: [JSON] { json["annotations"]?["list"]?.elements ?? [] }
}

extension Dashboard {
  /// One question to Prometheus.
  struct Query {
    /// Where it stands, for messages.
    let place: String
    let expression: String
    /// Whether it asks for one moment rather than for a range of time.
    let isInstant: Bool
    /// What makes a text of labels: a legend, or the texts of an annotation.
    let texts: [String]
    /// The panel or annotation it belongs to.
    let owner: JSON
  }

  /// What panels and annotations ask.
  var queries: [Query] {
    panels.flatMap { panel in
      (panel["targets"]?.elements ?? []).map { target in
        Query(
          place: "\(uid): \(panel["title"]?.text ?? "?") \(target["refId"]?.text ?? "?")",
          expression: target["expr"]?.text ?? "", isInstant: target["instant"] == .boolean(true),
          texts: [target["legendFormat"]?.text ?? ""], owner: panel)
      }
    }
      + annotations.map { annotation in
        Query(
          place: "\(uid): annotation \(annotation["name"]?.text ?? "?")", expression: annotation["expr"]?.text ?? "",
          isInstant: false, texts: ["titleFormat", "textFormat"].compactMap { annotation[$0]?.text }, owner: annotation)
      }
  }

  /// Every text in a value, for looking through.
  static func texts(in json: JSON) -> [String] {
    switch json {
    case .string(let text): [text]
    case .array(let elements): elements.flatMap(texts)
    case .object(let members): members.flatMap { texts(in: $0.value) }
    default: []
    }
  }
}
