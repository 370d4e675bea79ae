internal import ReachCore

/// Writes the families that are not about targets: those of the host, the agent and the process.
///
/// They are few and small, so they are written in one piece.
struct HostRendering {
  let links: [LinkSample]
  let agent: AgentSeries
  let process: ProcessSample?
  let targets: Int

  /// Writes all of them, in the order of the reference.
  func write(to writer: inout SeriesWriter) {
    for kind in HostFamily.allCases { write(kind, to: &writer) }
  }

  private func write(_ kind: HostFamily, to writer: inout SeriesWriter) {
    let family = kind.family
    switch kind {
    case .linkUp:
      list(family, links, to: &writer) { ([("interface", $0.interface)], $0.isUp ? 1 : 0) }
    case .linkInfo:
      list(family, links, to: &writer) {
        ([("interface", $0.interface), ("medium", $0.medium.rawValue), ("operstate", $0.operState.word)], 1)
      }
    case .linkCarrierChanges:
      list(family, links.filter { $0.carrierChanges != nil }, to: &writer) {
        ([("interface", $0.interface)], UInt64($0.carrierChanges ?? 0))
      }
    case .build:
      list(family, [agent], to: &writer) {
        ([("version", $0.version), ("revision", $0.revision), ("swift", $0.swiftVersion)], 1)
      }
    case .plugin:
      list(family, agent.plugins.sorted { $0.plugin < $1.plugin }, to: &writer) {
        ([("plugin", $0.plugin), ("version", $0.version)], 1)
      }
    case .lastReload: single(family, agent.isLastReloadSuccessful.map { $0 ? 1 : 0 }, to: &writer)
    case .lastReloadTime: seconds(family, agent.lastReloadSuccess, to: &writer)
    case .targets: single(family, UInt64(targets), to: &writer)
    case .discoveryTargets:
      list(family, agent.sources, to: &writer) { ([("source", $0.source)], UInt64(max(0, $0.targets))) }
    case .discoveryFailures:
      list(family, agent.sources, to: &writer) { ([("source", $0.source)], $0.failures) }
    case .discoveryTime:
      list(family, agent.sources.filter { $0.lastSuccess != nil }, to: &writer) {
        ([("source", $0.source)], UInt64(max(0, ($0.lastSuccess ?? 0) / 1_000_000_000)))
      }
    case .scheduleLag: histogram(family, agent.scheduleLag, to: &writer)
    case .roundsSkipped: single(family, agent.roundsSkipped, to: &writer)
    case .netlinkMessages:
      list(family, agent.netlinkMessages, to: &writer) { ([("type", $0.type)], $0.count) }
    case .netlinkOverruns: single(family, agent.netlinkOverruns, to: &writer)
    case .netlinkResyncs: single(family, agent.netlinkResyncs, to: &writer)
    case .logDropped: single(family, agent.logDropped, to: &writer)
    case .stateLost: single(family, agent.stateLost, to: &writer)
    case .moduleUnknown: single(family, agent.moduleUnknown, to: &writer)
    case .requests:
      list(family, agent.requests, to: &writer) { ([("path", $0.path), ("code", String($0.code))], $0.count) }
    case .eventToStatus: histogram(family, agent.eventToStatus, to: &writer)
    case .cpu: seconds(family, process?.cpu, to: &writer)
    case .maxDescriptors: single(family, process?.maxDescriptors, to: &writer)
    case .openDescriptors: single(family, process?.openDescriptors, to: &writer)
    case .residentBytes: single(family, process?.residentBytes, to: &writer)
    case .startTime: seconds(family, process?.startTime, to: &writer)
    case .threads: single(family, process?.threads, to: &writer)
    case .virtualBytes: single(family, process?.virtualBytes, to: &writer)
    case .maxVirtualBytes: single(family, process?.maxVirtualBytes, to: &writer)
    }
  }

  // MARK: Pieces

  private func list<Item>(
    _ family: Family, _ items: [Item], to writer: inout SeriesWriter,
    _ series: (Item) -> (labels: [(String, String)], value: UInt64)
  ) {
    guard !items.isEmpty else { return }
    writer.begin(family)
    for item in items {
      let (labels, value) = series(item)
      var text: [UInt8] = []
      for (index, label) in labels.enumerated() {
        if index > 0 { text.append(UInt8(ascii: ",")) }
        LabelText.append(label.0, label.1, to: &text)
      }
      writer.share(family.opening, PaddedBytes(text))
      writer.series(SeriesWriter.end, Int64(clamping: value))
    }
    writer.end()
  }

  private func single(_ family: Family, _ value: UInt64?, to writer: inout SeriesWriter) {
    guard let value else { return }
    writer.begin(family)
    writer.share(family.name, PaddedBytes([]))
    writer.series(SeriesWriter.blank, Int64(clamping: value))
    writer.end()
  }

  private func seconds(_ family: Family, _ nanoseconds: Int64?, to writer: inout SeriesWriter) {
    guard let nanoseconds else { return }
    writer.begin(family)
    writer.share(family.name, PaddedBytes([]))
    writer.series(SeriesWriter.blank, seconds: nanoseconds)
    writer.end()
  }

  private func histogram(_ family: Family, _ histogram: Histogram, to writer: inout SeriesWriter) {
    writer.begin(family)
    writer.series(family, histogram, PaddedBytes([]), SeriesWriter.nothing)
    writer.end()
  }
}
