internal import Glibc
internal import ReachCore
internal import Testing

@Suite struct FaultCodeTests {
  @Test("The names are those of the system's headers")
  func names() {
    let expected: [(Int32, String)] = [
      (EPERM, "EPERM"), (EINTR, "EINTR"), (EAGAIN, "EAGAIN"), (ENOMEM, "ENOMEM"), (EACCES, "EACCES"),
      (EINVAL, "EINVAL"), (ENFILE, "ENFILE"), (EMFILE, "EMFILE"), (EAFNOSUPPORT, "EAFNOSUPPORT"),
      (EADDRNOTAVAIL, "EADDRNOTAVAIL"), (ENETUNREACH, "ENETUNREACH"), (ENOBUFS, "ENOBUFS"), (ETIMEDOUT, "ETIMEDOUT"),
      (ECONNREFUSED, "ECONNREFUSED"), (EHOSTUNREACH, "EHOSTUNREACH"), (ECANCELED, "ECANCELED"),
    ]
    for (number, name) in expected {
      #expect(FaultCode(errno: number).name == name)
      #expect(FaultCode(name: name)?.errno == number)
      #expect(FaultCode(errno: number).description == name)
    }
  }

  @Test("A number without a name keeps its number")
  func nameless() {
    #expect(FaultCode(errno: 4095).name == "errno 4095")
    #expect(FaultCode(errno: 4095).errno == 4095)
  }

  @Test("A number that is no errno becomes EIO", arguments: [0, -1, Int32.min])
  func nonsense(_ number: Int32) {
    #expect(FaultCode(errno: number).name == "EIO")
  }

  @Test("The resolver's own code is none of errno's")
  func resolver() {
    #expect(FaultCode.resolverMemory.name == "EAI_MEMORY")
    #expect(FaultCode.resolverMemory.errno == nil)
    #expect(FaultCode(name: "EAI_MEMORY") == .resolverMemory)
  }

  @Test("Other names are no codes", arguments: ["", "EWHAT", "emfile", "24"])
  func unknownName(_ name: String) {
    #expect(FaultCode(name: name) == nil)
  }

  @Test("Being interrupted is EINTR")
  func interrupted() {
    #expect(FaultCode.interrupted == FaultCode(errno: EINTR))
  }
}
