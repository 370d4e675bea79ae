internal import ReachConfig
internal import ReachCore
internal import ReachHTTP
internal import ReachIO
internal import ReachLog

/// Keeps in force what the file of `web.config` says: it and the certificates that it names are read anew when they
/// change. What cannot be used leaves the one before in force, and is one warning.
///
/// Isolation: on the event loop, or before it runs.
final class WebAccess: Sendable {
  private struct State {
    /// What was put in force last; nil: everybody may ask.
    var web: WebPolicy?
    var files: [String] = []
    var subscription: Int?
    /// What keeps the file from being used, once it has been said.
    var trouble: String?
    var isReading = false
    /// Whether the files have changed since they began to be read.
    var isStale = false
  }

  private let server: HTTPServer
  private let loop: EventLoop
  private let log: Logger
  private let watch: FileWatch
  private let state: LoopConfined<State>

  /// Nothing is watched yet, and everybody may ask. `watch` is to tell of changed files.
  init(_ server: HTTPServer, watch: FileWatch, on loop: EventLoop, log: Logger) {
    self.server = server
    self.loop = loop
    self.log = log
    self.watch = watch
    state = LoopConfined(State(), on: loop)
  }

  /// What is in force.
  var current: WebPolicy? { state.withState { $0.web } }

  /// Puts in force what was read without an error, nil for that everybody may ask, and watches its files from now on.
  /// Throws why that cannot be; then nothing has changed.
  func apply(_ web: WebPolicy?) throws(AgentError) {
    guard let policy = web.map({ $0.policy }) ?? HTTPPolicy() else {
      throw AgentError(web?.errors.first?.description ?? "")
    }
    do throws(TLSProblem) {
      try server.apply(policy)
    } catch {
      throw AgentError((web.map { $0.file + ": error: " } ?? "") + error.description)
    }
    state.withState { state in
      state.web = web
      state.trouble = nil
    }
    watchFiles(web?.files ?? [])
  }

  private func watchFiles(_ files: [String]) {
    let old = state.withState { state -> Int?? in
      guard files != state.files else { return nil }
      state.files = files
      defer { state.subscription = nil }
      return .some(state.subscription)
    }
    guard let old else { return }
    // The new ones first: a file that is in both sets is not forgotten meanwhile.
    let subscription = files.isEmpty ? nil : watch.add(files) { [weak self] _ in self?.filesChanged() }
    if let old { watch.remove(old) }
    state.withState { $0.subscription = subscription }
  }

  // MARK: Changes

  private func filesChanged() {
    let mustRead = state.withState { state in
      state.isStale = true
      guard !state.isReading, state.web != nil else { return false }
      state.isReading = true
      return true
    }
    if mustRead { loop.spawn { await self.readAgain() } }
  }

  private func readAgain() async {
    while let file = state.withState({ nextReading(&$0) }) {
      // A disk may take its time, and so may many authorities.
      guard let web = try? await loop.offload({ WebPolicy(readingFile: file) }) else {
        say("\(file) is to be read again, and there is no thread to do that on", of: file)
        continue
      }
      // Meanwhile the configuration may have named another one.
      guard state.withState({ $0.web?.file == file }) else { continue }
      take(web)
    }
  }

  private func nextReading(_ state: inout State) -> String? {
    guard state.isStale, let file = state.web?.file else {
      state.isReading = false
      return nil
    }
    state.isStale = false
    return file
  }

  private func take(_ web: WebPolicy) {
    do throws(AgentError) {
      // A file that is half written, or was emptied by accident, must open nothing that was closed.
      let lost = web.policy?.protections.missing(of: current?.policy?.protections ?? Protections()) ?? []
      guard lost.isEmpty else {
        throw AgentError(
          "\(web.file): it no longer asks for \(lost.joined(separator: " and for ")), which is taken only when the "
            + "configuration is read again (SIGHUP)")
      }
      try apply(web)
      log.log(.configLoaded(file: web.file, problems: web.problems.map(\.description)))
    } catch {
      let more = web.errors.count - 1
      say("\(error)" + (more > 0 ? " (and \(more) more)" : ""), of: web.file)
      // What it names now may be what is to be mended.
      watchFiles(web.files + (current?.files ?? []).filter { !web.files.contains($0) })
    }
  }

  private func say(_ trouble: String, of file: String) {
    let isNews = state.withState { state in
      defer { state.trouble = trouble }
      return state.trouble != trouble
    }
    guard isNews else { return }
    log.log(
      .selfCheck(
        check: "web_config",
        problem: "\(file) or a file that it names has changed and cannot be used; what it said before stays in force: "
          + trouble, remedy: "correct it; it is then taken without a restart"))
  }
}

/// What keeps strangers out.
struct Protections: Hashable, Sendable {
  var hasTLS = false
  var hasVerifiedClients = false
  var hasPasswords = false

  /// What others have and these have not, for people.
  func missing(of others: Protections) -> [String] {
    var missing: [String] = []
    if others.hasTLS, !hasTLS { missing.append("TLS") }
    if others.hasVerifiedClients, !hasVerifiedClients { missing.append("clients' certificates") }
    if others.hasPasswords, !hasPasswords { missing.append("passwords") }
    return missing
  }
}

extension HTTPPolicy {
  /// What of the policy keeps strangers out.
  var protections: Protections {
    Protections(
      hasTLS: tls != nil, hasVerifiedClients: tls.map { $0.clientAuthentication == .requireAndVerify } ?? false,
      hasPasswords: !users.isEmpty)
  }
}
