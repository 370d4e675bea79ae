import Glibc
import ReachTestSupport

/// Has the kernel refuse sockets of one address family to a program, as RestrictAddressFamilies= of systemd does: by a
/// filter of seccomp(2), which a few lines of Python put in place before the program is run.
enum SocketRefusal {
  /// Whether Python is there, or must be.
  static let isAvailable = TestRequirements.areAllRequired || (unsafe access("/usr/bin/python3", X_OK)) == 0

  /// What runs the words behind it so: as a unit of systemd, if that is to be believed.
  static func of(_ family: Int32, with code: Int32 = EAFNOSUPPORT, asUnit: Bool = false) -> [String] {
    ["env", "-u", "SYSTEMD_EXEC_PID"] + (asUnit ? ["INVOCATION_ID=1"] : ["-u", "INVOCATION_ID"])
      + ["/usr/bin/python3", "-c", script, "\(family)", "\(code)"]
  }

  private static let script = """
    import ctypes, os, struct, sys
    family, code = int(sys.argv[1]), int(sys.argv[2])
    number = {"x86_64": 41, "aarch64": 198}[os.uname().machine]  # socket(2)
    step = lambda operation, yes, no, value: struct.pack("HBBI", operation, yes, no, value)
    program = b"".join([
      step(0x20, 0, 0, 0),                  # load the number of the call
      step(0x15, 0, 3, number),             # another one is allowed
      step(0x20, 0, 0, 16),                 # load the first argument
      step(0x15, 0, 1, family),             # another family is allowed
      step(0x06, 0, 0, 0x00050000 | code),  # SECCOMP_RET_ERRNO
      step(0x06, 0, 0, 0x7FFF0000),         # SECCOMP_RET_ALLOW
    ])
    class Filter(ctypes.Structure):
      _fields_ = [("length", ctypes.c_ushort), ("program", ctypes.c_void_p)]
    kept = ctypes.create_string_buffer(program, len(program))
    filter = Filter(len(program) // 8, ctypes.cast(kept, ctypes.c_void_p))
    libc = ctypes.CDLL(None, use_errno=True)
    long = ctypes.c_ulong
    PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
    if libc.prctl(PR_SET_NO_NEW_PRIVS, long(1), long(0), long(0), long(0)) != 0: sys.exit("no_new_privs")
    if libc.prctl(PR_SET_SECCOMP, long(SECCOMP_MODE_FILTER), ctypes.byref(filter), long(0), long(0)) != 0:
      sys.exit("seccomp: errno %d" % ctypes.get_errno())
    os.execvp(sys.argv[3], sys.argv[3:])
    """
}
