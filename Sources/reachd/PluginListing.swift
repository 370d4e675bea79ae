internal import ReachCore
internal import ReachPluginHost
internal import ReachProbe

/// The backends found, as text and as JSON.
enum PluginListing {
  static func text(_ results: [PluginResult]) -> String {
    var text = ""
    for result in results {
      switch result {
      case .loaded(let plugin):
        text += "\(plugin.name) \(plugin.version), layer \(plugin.layer.rawValue), \(plugin.file)\n"
        text += "  \(plugin.registration.summary)\n"
        text += table(plugin.registration.options)
      case .rejected(let plugin):
        text += "\(plugin.name) REJECTED\(plugin.file.map { ", \($0)" } ?? "")\n  \(plugin.reason)\n"
      }
    }
    return text.isEmpty ? "no plugins were found\n" : text
  }

  private static func table(_ options: [ProbeOption]) -> String {
    let rows = options.map { option in
      (option.name, word(option.kind) + (option.defaultValue.map { ", default \(word($0))" } ?? ""), option.summary)
    }
    let widths = (rows.map(\.0.count).max() ?? 0, rows.map(\.1.count).max() ?? 0)
    return rows.map { row in
      "  " + ProbeReport.pad(row.0, to: widths.0) + "  " + ProbeReport.pad(row.1, to: widths.1) + "  \(row.2)\n"
    }.joined()
  }

  static func json(_ results: [PluginResult]) -> String {
    var json = JSONWriter()
    json.beginArray()
    for result in results {
      json.beginObject()
      json.key("name")
      json.value(result.name)
      switch result {
      case .loaded(let plugin): write(plugin, to: &json)
      case .rejected(let plugin):
        json.key("file")
        json.value(plugin.file)
        json.key("rejected")
        json.value(plugin.reason)
      }
      json.endObject()
    }
    json.endArray()
    json.endLine()
    return String(decoding: json.bytes, as: UTF8.self)
  }

  private static func write(_ plugin: LoadedPlugin, to json: inout JSONWriter) {
    for (key, value) in [
      ("version", plugin.version), ("layer", plugin.layer.rawValue), ("file", plugin.file),
      ("summary", plugin.registration.summary),
    ] {
      json.key(key)
      json.value(value)
    }
    json.key("options")
    json.beginArray()
    for option in plugin.registration.options {
      json.beginObject()
      for (key, value) in [
        ("name", option.name), ("type", word(option.kind)), ("default", option.defaultValue.map(word)),
        ("summary", option.summary),
      ] {
        json.key(key)
        json.value(value)
      }
      json.endObject()
    }
    json.endArray()
  }

  static func word(_ kind: ProbeOption.Kind) -> String {
    switch kind {
    case .string: "text"
    case .integer(let range): "integer \(range.lowerBound) to \(range.upperBound)"
    case .boolean: "true or false"
    case .duration: "duration"
    case .choice(let words): words.joined(separator: " | ")
    case .endpoint: "address[:port]"
    case .endpoints: "list of address[:port]"
    }
  }

  static func word(_ value: OptionValue) -> String {
    switch value {
    case .string(let text): text
    case .integer(let number): "\(number)"
    case .boolean(let truth): truth ? "true" : "false"
    case .duration(let duration): DurationText.short(duration)
    case .endpoint(let endpoint): FindingText.endpoint(endpoint.address, port: endpoint.port)
    case .endpoints(let endpoints):
      endpoints.map { FindingText.endpoint($0.address, port: $0.port) }.joined(separator: ", ")
    }
  }
}
