internal import CReachTestSupport
internal import Glibc
internal import ReachCore
internal import ReachIO

/// How a program ended, with all that it printed.
public struct ProgramResult: Hashable, Sendable {
  /// The arguments, the program's name first.
  public let arguments: [String]
  /// The exit status; 128 and more for the number of the signal that ended it.
  public let status: Int32
  /// Its standard output and error, in the order they were written.
  public let output: String

  /// Whether it exited with 0.
  public var isSuccess: Bool { status == 0 }
}

/// A program that staging needs could not be run, or failed.
public struct ProgramFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The program, its arguments, what became of it, what it printed, and what it was given to read.
  public let description: String
}

/// Runs a program to its end on the calling thread, whose namespaces it inherits; `input` is what it reads.
///
/// It blocks, so it is for short-lived programs that stage a test. Throws when the program cannot be started.
public func runProgram(_ arguments: [String], input: String = "") throws -> ProgramResult {
  let source = try memoryFile(holding: input)
  let sink = try memoryFile(holding: "")
  var copies: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) } + [nil]
  defer { unsafe copies.forEach { unsafe free($0) } }
  var status: Int32 = 0
  let code = unsafe CReachTestSupport_run(&copies, source.number, sink.number, &status)
  guard code == 0 else {
    throw ProgramFailure(description: "\(arguments.joined(separator: " ")): \(FaultCode(errno: code).name)")
  }
  let signal = status & 0x7f
  return ProgramResult(
    arguments: arguments, status: signal == 0 ? (status >> 8) & 0xff : 128 + signal, output: try contents(of: sink))
}

func readFile(_ path: String) throws(SystemError) -> String {
  try contents(of: Descriptor(owning: try retryingInterrupts("open") { unsafe open(path, O_RDONLY | O_CLOEXEC) }))
}

private func memoryFile(holding text: String) throws(SystemError) -> Descriptor {
  let number = CReachTestSupport_memory_file()
  if number < 0 { throw SystemError("memfd_create", FaultCode(errno: -number)) }
  let file = Descriptor(owning: number)
  try file.writeAll(text)
  _ = lseek(number, 0, SEEK_SET)
  return file
}

func contents(of file: borrowing Descriptor) throws(SystemError) -> String {
  let number = file.number
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 4096)
  while true {
    let offset = bytes.count
    let count = try retryingInterrupts("pread") { unsafe pread(number, &chunk, chunk.count, off_t(offset)) }
    if count == 0 { return String(decoding: bytes, as: UTF8.self) }
    bytes += chunk[..<count]
  }
}
