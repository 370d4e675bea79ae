import ReachHTTP
import Testing

@Suite struct AcceptHeaderTests {
  typealias Field = HTTPRequest.Field

  static let openMetrics = (type: "application/openmetrics-text", version: [Field("version", "1.0.0")])

  @Test("elements keep their order, parameters and weights")
  func elements() {
    let header = AcceptHeader(parsing: [
      "application/openmetrics-text; Version=\"1.0.0\" ;q=0.75, TEXT/plain;version=0.0.4;q=0.5", "*/*;q=0.1",
    ])
    #expect(
      header.elements == [
        .init("application/openmetrics-text", parameters: [Field("version", "1.0.0")], weight: 750),
        .init("text/plain", parameters: [Field("version", "0.0.4")], weight: 500),
        .init("*/*", weight: 100),
      ])
    #expect(header.elements.first?.parameter("version") == "1.0.0")
  }

  @Test(
    "weights are read leniently, and an element with none that can be read is left out",
    arguments: [
      ("a;q=1", 1000), ("a;q=1.000", 1000), ("a;q=0", 0), ("a;q=0.000", 0), ("a;q=0.5", 500), ("a;q=.25", 250),
      ("a;q=0.1239", 123), ("a; Q=0.3", 300), ("a;q=7", 1000), ("a;q=\"0.2\"", 200), ("a;q=", nil), ("a;q=x", nil),
      ("a;q=-1", nil), ("a;q=nan", nil), ("a;q=1e3", nil), ("a;q=.", nil), ("a;q", nil), ("a;", 1000), ("a b", nil),
      ("a;q=0.5.1", nil), ("a;q=99999999999999999999999999", 1000),
    ] as [(String, Int?)])
  func weights(text: String, weight: Int?) {
    let elements = AcceptHeader(parsing: [text]).elements
    #expect(elements.map(\.weight) == (weight.map { [$0] } ?? []))
  }

  @Test("a separator within quotes separates nothing")
  func quotes() {
    let header = AcceptHeader(parsing: ["a/b;x=\"1,2;3\\\"4\";q=0.5,c/d"])
    #expect(header.elements == [.init("a/b", parameters: [Field("x", "1,2;3\"4")], weight: 500), .init("c/d")])
  }

  @Test("what is no list at all is an empty one", arguments: ["", ",", ",,;,", " , \t,", "\"", ";q=1", "=", "\\,\""])
  func nonsense(text: String) {
    #expect(AcceptHeader(parsing: [text]).elements.isEmpty)
  }

  @Test("the most specific media range decides")
  func specificity() {
    let header = AcceptHeader(parsing: ["text/*;q=0.3, text/plain;q=0.7, text/plain;version=1.0.0, */*;q=0.5"])
    #expect(header.weight(ofMediaType: "text/plain", parameters: [Field("version", "1.0.0")]) == 1000)
    #expect(header.weight(ofMediaType: "text/plain", parameters: [Field("version", "0.0.4")]) == 700)
    #expect(header.weight(ofMediaType: "text/html") == 300)
    #expect(header.weight(ofMediaType: "image/png") == 500)
  }

  @Test("a weight of nought excludes a type, though everything else is accepted")
  func exclusion() {
    let header = AcceptHeader(parsing: ["application/openmetrics-text;q=0,*/*"])
    #expect(header.weight(ofMediaType: Self.openMetrics.type, parameters: Self.openMetrics.version) == 0)
    #expect(header.weight(ofMediaType: "text/plain") == 1000)
  }

  @Test("a list accepts no type that it does not name, and no list accepts all of them")
  func unnamed() {
    #expect(AcceptHeader(parsing: ["text/plain"]).weight(ofMediaType: "text/html") == 0)
    #expect(AcceptHeader(parsing: []).weight(ofMediaType: "text/html") == 1000)
  }

  @Test("another version is not accepted, while an unknown parameter changes nothing")
  func parameters() {
    let header = AcceptHeader(parsing: [
      "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
        + "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;q=0.4"
    ])
    #expect(header.weight(ofMediaType: Self.openMetrics.type, parameters: Self.openMetrics.version) == 600)
    #expect(header.weight(ofMediaType: "text/plain", parameters: [Field("version", "0.0.4")]) == 0)
  }

  @Test(
    "a coding is wanted as much as it says",
    arguments: [
      ("gzip", 1000, 1), ("gzip, deflate, br", 1000, 1), ("x-gzip", 1000, 1), ("*", 1000, 1), ("deflate", 0, 1),
      ("", 0, 1), ("gzip;q=0", 0, 1), ("gzip;q=0, *", 0, 1), ("identity;q=0", 0, 0), ("gzip, identity;q=0", 1000, 0),
      ("*;q=0", 0, 0), ("identity, *;q=0", 0, 1000), ("gzip;q=0.3, identity;q=0.8", 300, 800), ("GZIP", 1000, 1),
    ] as [(String, Int, Int)])
  func codings(text: String, gzip: Int, identity: Int) {
    let header = AcceptHeader(parsing: [text])
    #expect(header.weight(ofCoding: "gzip") == gzip)
    #expect(header.weight(ofCoding: "identity") == identity)
  }

  @Test("a request's fields of one name are one list")
  func request() {
    let request = HTTPRequest(
      path: "/", headers: [Field("Accept-Encoding", "br"), Field("Accept", "a/b"), Field("accept-encoding", "gzip")])
    #expect(request.headers("ACCEPT-ENCODING") == ["br", "gzip"])
    #expect(request.acceptEncoding.weight(ofCoding: "gzip") == 1000)
    #expect(request.accept.elements == [.init("a/b")])
  }
}
