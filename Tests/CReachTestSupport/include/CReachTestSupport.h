// Calls of the kernel that the Glibc module leaves out, for staging tests. Each returns 0 or a positive errno unless
// it says otherwise, and works on the calling thread alone.
#ifndef CREACHTESTSUPPORT_H
#define CREACHTESTSUPPORT_H

#include <stdint.h>

// The calling thread's number (gettid(2)).
int CReachTestSupport_thread_id(void);

// Puts the calling thread into a network namespace of its own (unshare(2), CLONE_NEWNET). Needs CAP_SYS_ADMIN.
int CReachTestSupport_unshare_network(void);

// Puts the calling thread into the network namespace that the descriptor holds (setns(2)).
int CReachTestSupport_enter_network(int fd);

// Gives the calling thread a descriptor table of its own with nothing in it above standard error (close_range(2)).
int CReachTestSupport_unshare_descriptors(void);

// Gives the calling thread a mount namespace of its own, from which nothing spreads (mount_namespaces(7)).
int CReachTestSupport_unshare_mounts(void);

// Mounts a sysfs over /sys that shows the calling thread's network namespace (sysfs(5)).
int CReachTestSupport_mount_sysfs(void);

// Mounts the file `source` over the file `path` (mount(2), MS_BIND).
int CReachTestSupport_bind_file(const char *source, const char *path);

// An anonymous file (memfd_create(2)), closed on exec. Returns its descriptor, or a negative errno.
int CReachTestSupport_memory_file(void);

// Runs a program found along PATH to its end, with these descriptors as standard input and as standard output and
// error (posix_spawn(3)). It inherits the calling thread's namespaces. `status` becomes what waitpid(2) tells.
int CReachTestSupport_run(char *const arguments[], int input, int output, int *status);

// Starts a program found along PATH, with these descriptors as standard input, output and error; it inherits the
// calling thread's namespaces and gets `death_signal` when that thread ends (PR_SET_PDEATHSIG). Returns its process ID, or a negative errno. Where the
// program cannot be run, the process exits with 127.
int CReachTestSupport_start(char *const arguments[], int input, int output, int error, int death_signal);

// A descriptor that is readable once the process has ended (pidfd_open(2)), or a negative errno.
int CReachTestSupport_watch_process(int process);

// Whether a child has ended: 1, 0 while it runs, or a negative errno. It can still be waited for (waitid(2), WNOWAIT).
int CReachTestSupport_has_ended(int process);

// A pipe that holds one page (pipe2(2), F_SETPIPE_SZ), its reading end first.
int CReachTestSupport_small_pipe(int ends[]);

// Makes an interface of that name (tun(4)), point-to-point and without carrier once the descriptor is closed. Returns
// the descriptor that holds it, or a negative errno.
int CReachTestSupport_open_tun(const char *name);

// A TCP socket bound to the address of 4 or 16 octets and to `*port`, which becomes the port the kernel chose when it
// is 0; `scope` is an interface's index, for link-local addresses. Returns its descriptor, or a negative errno.
int CReachTestSupport_bind_tcp(const uint8_t *octets, int count, uint32_t scope, uint16_t *port);

// A TCP socket that has begun to connect, without waiting. Returns its descriptor, or a negative errno.
int CReachTestSupport_begin_tcp(const uint8_t *octets, int count, uint32_t scope, uint16_t port);

// Waits until the descriptor can be read, for at most so many milliseconds. Returns 1, 0 when it could not, or a
// negative errno.
int CReachTestSupport_wait_readable(int fd, int milliseconds);

#endif
