internal import CReachLinux
internal import Glibc
public import ReachCore
public import ReachIO

/// The interfaces of this network namespace, kept current by the kernel's own messages (rtnetlink(7)).
///
/// Nothing polls: while the kernel has nothing to tell, the monitor costs no wake-up, and a finding costs no system
/// call. Lost messages are made good by reading all interfaces again.
///
/// Isolation: on the event loop alone.
public final class LinkMonitor: Sendable {
  /// Called on the loop, once for each batch of messages in which something changed.
  public typealias ChangeHandler = @Sendable (NetworkChange) -> Void

  struct State {
    var core: MonitorCore
    var findings: [Int32: LinkFinding] = [:]
    var wwanInterfaces: [String]
    var handlers: [(id: Int, handler: ChangeHandler)] = []
    var nextHandler = 0
    var buffer = [UInt8](repeating: 0, count: 32 * 1024)
    var watch: EventLoop.Watch?
    var timer: (id: TimerID, due: Instant)?
    var isStopped = false
  }

  let loop: EventLoop
  let session: NetlinkSession
  let source: any MonitorSource
  let state: LoopConfined<State>

  /// Opens the event socket, joins the groups and reads all interfaces.
  ///
  /// `wwanInterfaces` are names or globs to take for cellular. `receiveBufferBytes` is how much the kernel may keep for
  /// us before it drops messages; it is memory only while messages wait. Throws what the kernel refused.
  public convenience init(
    loop: EventLoop, session: NetlinkSession, wwanInterfaces: [String] = [], receiveBufferBytes: Int32 = 4 << 20
  ) throws(SystemError) {
    try self.init(
      loop: loop, session: session, wwanInterfaces: wwanInterfaces, receiveBufferBytes: receiveBufferBytes,
      deviceTypes: DeviceTypeReader(root: "/sys/class/net"))
  }

  convenience init(
    loop: EventLoop, session: NetlinkSession, wwanInterfaces: [String], receiveBufferBytes: Int32,
    deviceTypes: DeviceTypeReader
  ) throws(SystemError) {
    let socket = try NetlinkSocket()
    try socket.setReceiveBuffer(receiveBufferBytes)
    try Self.join(socket)
    // Join, then read: what changes in between is told by a message that waits.
    try self.init(
      loop: loop, session: session, source: KernelSource(events: socket, session: session),
      wwanInterfaces: wwanInterfaces, deviceType: deviceTypes.deviceType)
    let watch = try loop.watch(socket.descriptor.number, for: .readable) { [weak self] _ in self?.drain() }
    state.withState { $0.watch = watch }
  }

  /// A monitor on a host that lets this process see no interface: it knows none, and never hears of one. `refusal` tells
  /// that from a host that has none.
  public convenience init(loop: EventLoop, refusing session: NetlinkSession) throws(SystemError) {
    try self.init(loop: loop, session: session, source: RefusedSource())
  }

  /// Why no interface can be seen; nil where they can.
  public var refusal: SystemError? { session.refusal }

  /// A monitor of what `source` brings. Nothing watches the source: `drain()` is to be called when messages wait.
  init(
    loop: EventLoop, session: NetlinkSession, source: any MonitorSource, wwanInterfaces: [String] = [],
    deviceType: @escaping @Sendable (LinkAttributes) -> DeviceType = { _ in .unspecified }
  ) throws(SystemError) {
    self.loop = loop
    self.session = session
    self.source = source
    state = LoopConfined(State(core: MonitorCore(deviceType: deviceType), wwanInterfaces: wwanInterfaces), on: loop)
    _ = try read()
    awaitNextRead()
  }

  /// Ends the watch. The table stays as it is; no handler is called any more.
  public func stop() {
    let (watch, timer) = state.withState { state in
      defer {
        state.watch = nil
        state.timer = nil
        state.isStopped = true
      }
      return (state.watch, state.timer)
    }
    if let watch { loop.unwatch(watch) }
    if let timer { loop.cancel(timer.id) }
  }

  /// Joins the groups of all that a verdict on links and routes depends on.
  ///
  /// Not RTNLGRP_NEIGH: a neighbour's entry never decides by itself, it is asked for (RTM_GETNEIGH) when a connection
  /// has failed, and on a busy network its coming and going would wake the process many times a second for nothing.
  private static func join(_ socket: NetlinkSocket) throws(SystemError) {
    let groups = [
      RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE,
      RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE, RTNLGRP_IPV4_NETCONF, RTNLGRP_IPV6_NETCONF,
    ]
    for group in groups { try socket.set(NETLINK_ADD_MEMBERSHIP, Int32(bitPattern: group.rawValue)) }
    // Linux 5.3. Without nexthop objects there is nothing to be told of.
    try? socket.set(NETLINK_ADD_MEMBERSHIP, Int32(bitPattern: RTNLGRP_NEXTHOP.rawValue))
  }

  // MARK: Reading

  /// The finding for the interface of that index; nil when there is none.
  ///
  /// A route may lead to an interface so new that its message still waits: for an index that is not known the waiting
  /// messages are read first, and handlers told.
  public func finding(index: Int32) -> LinkFinding? {
    if let known = state.withState({ $0.findings[index] }) { return known }
    if let judged = judge(index) { return judged }
    guard index > 0, !state.withState({ $0.isStopped }) else { return nil }
    drain()
    return judge(index)
  }

  /// The finding for the interface of that name, or alternative name; state `missing` when there is none.
  public func finding(named name: String) -> LinkFinding {
    if let index = state.withState({ $0.core.table.link(named: name)?.index }), let known = finding(index: index) {
      return known
    }
    return LinkFinding(interface: name, index: 0, medium: .other, state: .missing)
  }

  /// All interfaces with their medium, sorted by name.
  public var links: [LinkAttributes] {
    state.withState { state in
      let classifier = LinkClassifier(links: state.core.table.links, wwanInterfaces: state.wwanInterfaces)
      var links = Array(state.core.table.links.values)
      for index in links.indices { links[index].medium = classifier.medium(of: links[index]) }
      return links.sorted { ($0.name, $0.index) < ($1.name, $1.index) }
    }
  }

  /// Names, or globs of glob(7), of interfaces that are cellular whatever the kernel says.
  public var wwanInterfaces: [String] {
    get { state.withState { $0.wwanInterfaces } }
    set {
      state.withState { state in
        state.wwanInterfaces = newValue
        state.findings.removeAll(keepingCapacity: true)
      }
    }
  }

  // MARK: Handlers

  /// Has `handler` called after each batch that changed something. Returns what `removeHandler(_:)` takes.
  @discardableResult
  public func onChange(_ handler: @escaping ChangeHandler) -> Int {
    state.withState { state in
      state.nextHandler &+= 1
      state.handlers.append((state.nextHandler, handler))
      return state.nextHandler
    }
  }

  /// Takes a handler back.
  public func removeHandler(_ id: Int) { state.withState { $0.handlers.removeAll { $0.id == id } } }
}
