// For syscall(2). Defined here and not in the header, which must agree with the C library as Swift imported it.
#define _GNU_SOURCE
#include "CReachLinux.h"

#include <netinet/tcp.h>
#include <string.h>
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

int CReachLinux_tcp_info(int fd, struct CReachLinux_TCPInfo *info) {
  struct tcp_info all;
  socklen_t length = sizeof all;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &all, &length) != 0) return errno;
  // An older kernel may know a shorter structure.
  if (length < offsetof(struct tcp_info, tcpi_total_retrans) + sizeof all.tcpi_total_retrans) return ENOSYS;
  info->round_trip_us = all.tcpi_rtt;
  info->total_retransmits = all.tcpi_total_retrans;
  info->state = all.tcpi_state;
  return 0;
}

static void copy_offender(const struct sock_extended_err *from, struct CReachLinux_QueuedError *to) {
  // A macro that takes an argument; the address behind it may be of family AF_UNSPEC.
  const struct sockaddr *offender = SO_EE_OFFENDER(from);
  if (offender->sa_family == AF_INET) {
    memcpy(to->offender, &((const struct sockaddr_in *)offender)->sin_addr, to->offender_length = 4);
  } else if (offender->sa_family == AF_INET6) {
    memcpy(to->offender, &((const struct sockaddr_in6 *)offender)->sin6_addr, to->offender_length = 16);
  }
}

int CReachLinux_next_queued_error(int fd, struct CReachLinux_QueuedError *error) {
  char control[512] __attribute__((aligned(__alignof__(struct cmsghdr))));
  // The packet that caused the error comes along as data; it is not wanted, and cutting it short is allowed.
  char packet[64];
  struct iovec vector = {packet, sizeof packet};
  struct msghdr message = {
    .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  if (recvmsg(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return errno;
  memset(error, 0, sizeof *error);
  for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part != NULL; part = CMSG_NXTHDR(&message, part)) {
    if (!(part->cmsg_level == SOL_IP && part->cmsg_type == IP_RECVERR) &&
        !(part->cmsg_level == SOL_IPV6 && part->cmsg_type == IPV6_RECVERR))
      continue;
    struct sock_extended_err extended;
    if (part->cmsg_len < CMSG_LEN(sizeof extended + sizeof(struct sockaddr))) continue;
    memcpy(&extended, CMSG_DATA(part), sizeof extended);
    error->code = extended.ee_errno;
    error->origin = extended.ee_origin;
    error->type = extended.ee_type;
    error->icmp_code = extended.ee_code;
    size_t offender = part->cmsg_len - CMSG_LEN(sizeof extended);
    const struct sock_extended_err *in_place = (const struct sock_extended_err *)CMSG_DATA(part);
    if (SO_EE_OFFENDER(in_place)->sa_family != AF_INET6 || offender >= sizeof(struct sockaddr_in6))
      copy_offender(in_place, error);
  }
  return 0;
}
