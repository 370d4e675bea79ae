public import ReachConfig
internal import ReachCore

/// Which agent is to be asked for its health, and where.
public struct HealthQuestion: Hashable, Sendable {
  /// Where the agent serves.
  enum Place: Hashable, Sendable {
    /// The first of these addresses that takes a connection.
    case addresses([IPAddress], port: UInt16)
    /// A name, which is still to be resolved.
    case name(String, port: UInt16)
    /// A Unix socket.
    case unix(path: String)
  }

  /// Where it serves.
  let place: Place
  /// What may be spoken there, in the order in which it is tried.
  let schemes: [Scheme]
  /// What the request calls the server.
  let host: String
  /// The page to ask for.
  let path: String
  /// What had to be guessed, and why: for people, to be said whatever the answer is.
  public let doubts: [String]

  enum Scheme: String, Hashable, Sendable {
    case http
    case https
  }

  static let page = "/-/healthy"
}

extension HealthQuestion {
  /// Reads `http://host:port`, `https://host:port`, with or without a path, or `unix:/PATH`.
  public init(parsingURL text: String) throws(ValueError) {
    if text.hasPrefix("unix:"), case .unix(let path) = try ListenAddress(parsing: text) {
      self.init(place: .unix(path: path), schemes: [.http], host: "localhost", path: Self.page, doubts: [])
      return
    }
    let url = try HTTPURL(parsing: text)
    let place: Place =
      switch url.host {
      case .name(let name): .name(name, port: url.port)
      case .address(let address): .addresses([address], port: url.port)
      }
    let path = url.path == "/" ? Self.page : url.path
    self.init(
      place: place, schemes: [url.isSecure ? .https : .http], host: url.hostText,
      path: path + (url.query.map { "?" + $0 } ?? ""), doubts: [])
  }
}

extension HealthQuestion {
  /// Why it cannot be told whom to ask: for people.
  public struct Unknown: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, and what to do.
    public let description: String
  }

  /// Finds out where an agent with this configuration serves. No more of the file is looked at than that takes: what else
  /// is wrong with it does not make the agent that runs a dead one. Blocks until the files have been read.
  public init(configuration file: String) throws(Unknown) {
    let document: ConfigurationDocument
    do throws(ConfigurationFileError) { document = try ConfigurationDocument(readingFile: file) } catch {
      throw Unknown(description: "\(error); or name the agent with --url")
    }
    var doubts =
      document.unreadable.map { problem in
        ["\(problem), so that it is not known where the agent serves; the default is asked"]
      } ?? []
    guard let address = document.listen.first else {
      throw Unknown(description: "\(file): web.listen names nobody who could be asked; name the agent with --url")
    }
    var schemes = [Scheme.http]
    if let web = document.webConfig {
      let result = WebConfiguration.read(file: web)
      if let configuration = result.configuration {
        schemes = configuration.tls == nil ? [.http] : [.https]
      } else {
        let problem = result.problems.first { $0.severity == .error }?.description ?? "\(web): it cannot be read"
        doubts.append("\(problem), so that it is not known whether TLS is spoken; both ways are tried")
        schemes = [.https, .http]
      }
    }
    let (place, host) = try Self.place(of: address, file)
    self.init(place: place, schemes: schemes, host: host, path: Self.page, doubts: doubts)
  }

  private static func place(of address: ListenAddress, _ file: String) throws(Unknown) -> (Place, host: String) {
    let loopback = [IPAddress(ipv4: 0x7f00_0001), IPAddress(ipv6High: 0, low: 1)]
    switch address {
    case .unix(let path): return (.unix(path: path), "localhost")
    case .tcp(_, port: 0):
      throw Unknown(
        description:
          "\(file): web.listen leaves the port to the kernel, so that it is not known; name the agent with --url")
    case .tcp(nil, let port): return (.addresses(loopback, port: port), "localhost")
    case .tcp(let address?, let port):
      guard address.isUnspecified else {
        let text = "\(address.scoped(to: nil))"
        return (.addresses([address], port: port), address.family == .ipv6 ? "[\(text)]" : text)
      }
      // Where a socket of IPv6 takes clients of IPv4 too, either will do.
      return (.addresses(address.family == .ipv4 ? [loopback[0]] : loopback.reversed(), port: port), "localhost")
    }
  }
}
