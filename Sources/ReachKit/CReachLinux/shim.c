// For syscall(2). Defined here and not in the header, which must agree with the C library as Swift imported it.
#define _GNU_SOURCE
#include "CReachLinux.h"

#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(sizeof(((struct epoll_event *)0)->data) == 8, "epoll_data carries 64 bits");
_Static_assert(sizeof(struct timespec) == 16, "epoll_pwait2 takes 64-bit time");

int CReachLinux_epoll_wait_ns(int epfd, struct epoll_event *events, int max_events, int64_t timeout_ns) {
#ifdef SYS_epoll_pwait2
  static int unsupported;  // written once from 0 to 1; a race only costs a second try
  if (!__atomic_load_n(&unsupported, __ATOMIC_RELAXED)) {
    struct timespec timeout = {.tv_sec = timeout_ns / 1000000000, .tv_nsec = timeout_ns % 1000000000};
    long count = syscall(SYS_epoll_pwait2, epfd, events, max_events, timeout_ns < 0 ? NULL : &timeout, NULL, 0);
    // The call itself never fails with EPERM: that is a container's seccomp filter, older than the call.
    if (count >= 0 || (errno != ENOSYS && errno != EPERM)) return (int)count;
    __atomic_store_n(&unsupported, 1, __ATOMIC_RELAXED);
  }
#endif
  int64_t milliseconds = timeout_ns < 0 ? -1 : timeout_ns / 1000000 + (timeout_ns % 1000000 != 0);
  if (milliseconds > INT32_MAX) milliseconds = INT32_MAX;
  return epoll_wait(epfd, events, max_events, (int)milliseconds);
}

int CReachLinux_epoll_ctl(int epfd, int operation, int fd, uint32_t events, uint64_t data) {
  struct epoll_event event = {.events = events, .data.u64 = data};
  return epoll_ctl(epfd, operation, fd, &event) == 0 ? 0 : errno;
}

