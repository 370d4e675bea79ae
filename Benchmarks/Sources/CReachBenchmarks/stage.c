#define _GNU_SOURCE
#include "CReachBenchmarks.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef IFF_LOWER_UP
#define IFF_LOWER_UP 0x10000
#endif

int CReachBenchmarks_unshare_network(void) { return unshare(CLONE_NEWNET) == 0 ? 0 : errno; }

int CReachBenchmarks_enter_network(int fd) { return setns(fd, CLONE_NEWNET) == 0 ? 0 : errno; }

int CReachBenchmarks_start(char *const arguments[], int output) {
  pid_t child = fork();
  if (child < 0) return -errno;
  if (child > 0) return child;
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (dup2(output, 1) < 0 || dup2(output, 2) < 0) _exit(126);
  execvp(arguments[0], arguments);
  _exit(127);
}

int CReachBenchmarks_wait(int process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int CReachBenchmarks_large_pipe(int ends[]) {
  if (pipe2(ends, O_CLOEXEC) != 0) return errno;
  fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return 0;
}

int CReachBenchmarks_control_socket(void) {
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  return fd >= 0 ? fd : -errno;
}

int CReachBenchmarks_set_up(int control, const char *name, int is_up) {
  struct ifreq request = {.ifr_flags = 0};
  snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
  if (ioctl(control, SIOCGIFFLAGS, &request) != 0) return errno;
  if (is_up) request.ifr_flags |= IFF_UP; else request.ifr_flags &= ~IFF_UP;
  return ioctl(control, SIOCSIFFLAGS, &request) == 0 ? 0 : errno;
}

int CReachBenchmarks_link_listener(void) {
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
  if (fd < 0) return -errno;
  struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK};
  if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
  int code = errno;
  close(fd);
  return -code;
}

int CReachBenchmarks_heard_carrier_loss(int listener, int index) {
  char buffer[32768] __attribute__((aligned(NLMSG_ALIGNTO)));
  int is_lost = 0;
  for (;;) {
    ssize_t count = recv(listener, buffer, sizeof buffer, 0);
    if (count <= 0) return is_lost;
    int left = (int)count;
    for (struct nlmsghdr *header = (struct nlmsghdr *)buffer; NLMSG_OK(header, left);
         header = NLMSG_NEXT(header, left)) {
      if (header->nlmsg_type != RTM_NEWLINK || header->nlmsg_len < NLMSG_LENGTH(sizeof(struct ifinfomsg))) continue;
      struct ifinfomsg *link = NLMSG_DATA(header);
      if (link->ifi_index == index && !(link->ifi_flags & IFF_LOWER_UP)) is_lost = 1;
    }
  }
}

int CReachBenchmarks_connect_to(uint16_t port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -errno;
  struct sockaddr_in address = {
    .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
  int code = errno;
  close(fd);
  return -code;
}
