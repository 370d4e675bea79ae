// The kernel interfaces that Swift cannot reach by itself: headers the Glibc module leaves out, and macros that take
// arguments, which the importer drops. Every symbol of ours carries the prefix CReachLinux_.
#ifndef CREACHLINUX_H
#define CREACHLINUX_H

// First: the kernel's own in6.h, which the tunnel headers include, stands back once this has been seen.
#include <malloc.h>
#include <netinet/in.h>
#include <time.h>

#include <errno.h>
#include <linux/errqueue.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/if_tun.h>
#include <linux/if_tunnel.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

// epoll_wait with a timeout in nanoseconds (epoll_pwait2(2), Linux 5.11); falls back to milliseconds, rounded up,
// where the kernel has no such call. A negative timeout waits without end.
int CReachLinux_epoll_wait_ns(int epfd, struct epoll_event *events, int max_events, int64_t timeout_ns);

// Reads and writes the 64 bits of epoll_data, a union the importer gives no safe view of.
static inline uint64_t CReachLinux_epoll_data(const struct epoll_event *event) { return event->data.u64; }

// epoll_ctl(2) with 64 bits of data. Returns 0, or a positive errno.
int CReachLinux_epoll_ctl(int epfd, int operation, int fd, uint32_t events, uint64_t data);

// What TCP_INFO (tcp(7)) says that a probe needs. Fetched in C, since <linux/tcp.h> and the C library's
// <netinet/tcp.h> define the same structure twice and the importer would see both.
struct CReachLinux_TCPInfo {
  uint32_t round_trip_us;         // tcpi_rtt: the smoothed estimate, 0 before the first measurement
  uint32_t total_retransmits;     // tcpi_total_retrans: segments sent again, the SYN included
  uint8_t state;                  // tcpi_state: TCP_ESTABLISHED and so on
};

// getsockopt(TCP_INFO). Returns 0, or a positive errno.
int CReachLinux_tcp_info(int fd, struct CReachLinux_TCPInfo *info);

// One entry of a socket's error queue (IP_RECVERR in ip(7), IPV6_RECVERR in ipv6(7)).
struct CReachLinux_QueuedError {
  uint32_t code;                  // ee_errno
  uint8_t origin;                 // SO_EE_ORIGIN_LOCAL, _ICMP or _ICMP6
  uint8_t type;                   // the ICMP type
  uint8_t icmp_code;              // the ICMP code
  uint8_t offender_length;        // octets of `offender`: 0 when the kernel does not say, 4 or 16
  uint8_t offender[16];           // who sent the ICMP message
};

// Takes the next entry off the queue. Returns 0, or a positive errno; EAGAIN when the queue is empty.
int CReachLinux_next_queued_error(int fd, struct CReachLinux_QueuedError *error);

#endif
