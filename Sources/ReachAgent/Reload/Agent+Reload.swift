internal import ReachConfig
internal import ReachCore
internal import ReachHTTP
internal import ReachIO
internal import ReachLog
internal import ReachMetrics
internal import ReachNetlink
internal import ReachPluginHost
internal import ReachProbe
internal import ReachScheduler
internal import ReachState

/// How another configuration comes to hold while the agent runs.
extension Agent: ReloadOwner {
  func reloadBegins() -> Reloader.Read {
    reopenLog()
    service.reloading()
    let (file, overrides, plugins) = (file, overrides, inForce.withState { $0.plugins })
    return {
      do throws(ConfigurationFileError) {
        let preparation = try Preparation.load(file: file, keeping: plugins).readingWebConfig()
        let effective = preparation.configuration.map { overrides.applied(to: $0) }
        return .success(Reloader.Reading(preparation: preparation, text: effective?.kept(preparation.plugins) ?? nil))
      } catch {
        return .failure(error)
      }
    }
  }

  /// The log's file may have been moved away, as logrotate(8) does.
  private func reopenLog() {
    do {
      try sink.reopen()
    } catch {
      log.log(
        .selfCheck(
          check: "log", problem: "the log's file cannot be opened again: \(error)",
          remedy: inForce.withState { $0.log.remedy } ?? "let reachd write to the folder that it is in"))
    }
  }

  func reloadEnded(_ outcome: Reloader.Outcome?) {
    service.reloaded()
    guard let outcome else { return }
    board.agent.withState { series in
      series.isLastReloadSuccessful = outcome.isInForce
      if outcome.isInForce { series.lastReloadSuccess = WallClock.nanosecondsSinceEpoch() }
    }
    log.log(
      outcome.isInForce
        ? .configLoaded(file: file, summary: outcome.summary, problems: outcome.problems)
        : .configRejected(file: file, problems: outcome.problems))
    // What was read, and what it replaces, is gone by then.
    loop.schedule(at: loop.now().advanced(by: .seconds(1))) { StartupMemory.trim() }
  }

  func put(inForce reading: Reloader.Reading) async -> Reloader.Outcome {
    await gate.pass { () async -> Reloader.Outcome in
      guard let configuration = reading.preparation.configuration else { return Reloader.Outcome(reading.preparation) }
      do throws(AgentError) {
        return try await put(inForce: configuration, reading)
      } catch {
        return Reloader.Outcome(isInForce: false, problems: ["\(file): error: \(error)"])
      }
    }
  }

  private func put(
    inForce configuration: Configuration, _ reading: Reloader.Reading
  ) async throws(AgentError) -> Reloader.Outcome {
    // First whatever can fail, and nothing that cannot be taken back.
    let plugins = reading.preparation.plugins
    var pool = inForce.withState { $0.pool }
    pool.renew(plugins)
    let change = try RosterChange(
      of: board.roster.withState { $0 }, .declared, to: configuration.targets, with: &pool)
    let effective = overrides.applied(to: configuration)
    let destination = try logDestination(effective.log)
    let access = web.current
    do {
      try web.apply(reading.preparation.web)
      if !listensByActivation { try server.change(to: effective.listen.map(ReachHTTP.ListenAddress.init)) }
    } catch {
      destination?.close()
      try? web.apply(access)
      throw AgentError("\(error)")
    }
    let restored = await store.adopt(change.plan.added.map(\.target))
    // From here on everything goes well.
    if let destination { sink.move(to: destination) }
    log.setLevel(LogLevel(effective.log.level))
    let before = inForce.withState { force in
      defer { force.renew(effective, plugins, pool, reading.text) }
      return force
    }
    say(plugins.filter { new in !before.plugins.contains { $0.isSame(as: new) } })
    setKernelView(configuration)
    probes.replace(effective, plugins)
    watch(change, restored)
    if before.detail != inForce.withState({ $0.detail }) {
      for watched in board.targets { watched.setDetail(inForce.withState { $0.detail }, at: loop.now()) }
    }
    board.agent.withState { $0.show(plugins) }
    watchFiles()
    discover(by: configuration)
    if discovery.current == nil { inForce.withState { $0.leaving = [:] } }
    var outcome = Reloader.Outcome(reading.preparation)
    outcome.summary = change.plan.counts.description
    if configuration.stateDirectory != before.stateDirectory {
      outcome.problems.append("\(file): warning: 'state_dir' is another than at the start, and holds after a restart")
    }
    return outcome
  }

  /// Has the roster changed and scheduled.
  private func watch(_ change: RosterChange, _ restored: [String: RestoredTarget]) {
    let removed = change.plan.removed.map(\.target.name)
    scheduler.remove(removed)
    let (detail, leaving) = inForce.withState { force in
      defer { force.leaving = [:] }
      return (force.detail, force.leaving)
    }
    let fresh = change.commit(on: board, detail: detail, restored: restored, leaving: leaving)
    if change.origin == .declared {
      // A source may have them too, which it is about to tell.
      inForce.withState { force in for watched in change.plan.removed { force.leaving[watched.target.name] = watched } }
    }
    store.release(removed)
    probes.targetsChanged()
    scheduler.add(fresh.map { ScheduledTarget($0.runner, tag: $0.key) })
    // Only what was watched, or watched in another way, can have used a backend that nobody uses now.
    guard change.leavesSomething else { return }
    let all = board.targets
    inForce.withState { $0.pool.keep(only: all) }
  }

  /// Has these targets watched that were discovered, instead of those before.
  func setDiscovered(_ targets: [ConfiguredTarget]) async throws(AgentError) {
    let failure = await gate.pass { () async -> AgentError? in
      do throws(AgentError) {
        var pool = inForce.withState { $0.pool }
        let change = try RosterChange(of: board.roster.withState { $0 }, .discovered, to: targets, with: &pool)
        let restored = await store.adopt(change.plan.added.map(\.target))
        inForce.withState { $0.pool = pool }
        watch(change, restored)
        watchFiles()
        return nil
      } catch {
        return error
      }
    }
    if let failure { throw failure }
  }

  /// Which interfaces count as cellular, and what the default path is.
  private func setKernelView(_ configuration: Configuration) {
    let isOther = host.links.wwanInterfaces != configuration.wwanInterfaces
    if isOther { host.links.wwanInterfaces = configuration.wwanInterfaces }
    let hasOtherPath = host.defaultPath != configuration.defaultPath
    if hasOtherPath { host.defaultPath = configuration.defaultPath }
    guard isOther || hasOtherPath else { return }
    scheduler.pathsMayHaveChanged(PathChange(links: [], receivedAt: loop.now(), hasFlaps: false))
    scheduler.probeNow()
  }

  /// Where the log is to go from now on, opened; nil where it goes there already.
  private func logDestination(_ settings: LogSettings) throws(AgentError) -> DescriptorSink.Destination? {
    let before = inForce.withState { $0.log }
    guard settings.output != before.output || settings.format != before.format else { return nil }
    do {
      return try DescriptorSink.Destination(
        LogOutput(settings.output), format: LogFormat(settings, isColoured: overrides.isColoured))
    } catch {
      throw AgentError(settings.refusal(error))
    }
  }

  /// Watches the files that matter now, and says so when that cannot be done well.
  func watchFiles() {
    if inForce.withState({ $0.resolverFiles == nil }), board.targets.contains(where: \.isName) {
      let files = ResolverFiles(on: loop) { [scheduler] in scheduler.namesMayHaveChanged() }
      inForce.withState { $0.resolverFiles = files }
      if let check = files.selfCheck { log.log(check) }
    }
    let (isWatched, number) = inForce.withState { ($0.isWatched, $0.fileWatch) }
    if let number, !isWatched {
      files.remove(number)
      inForce.withState { $0.fileWatch = nil }
    }
    guard isWatched, number == nil else { return }
    let added = files.add([file]) { [reloader] _ in reloader.request(.fileChange) }
    inForce.withState { $0.fileWatch = added }
    if let limitation = files.limitation {
      log.log(.noticedLate("a change of \(file) is", limitation, in: file))
    }
  }

  /// Says what came of looking for plugins.
  func say(_ plugins: [PluginResult]) {
    for result in plugins {
      switch result {
      case .loaded(let plugin):
        log.log(.pluginLoaded(plugin: plugin.name, file: plugin.file, version: plugin.version))
      case .rejected(let plugin):
        log.log(.pluginRejected(plugin: plugin.name, file: plugin.file ?? "", reason: plugin.reason))
      }
    }
  }
}
