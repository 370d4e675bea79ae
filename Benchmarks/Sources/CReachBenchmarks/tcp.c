#define _GNU_SOURCE
#include "CReachBenchmarks.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

int CReachBenchmarks_start_listener(uint32_t host, uint16_t *port) {
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0) return -errno;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(host)};
  socklen_t length = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, 4096) != 0 ||
      getsockname(listener, (struct sockaddr *)&address, &length) != 0) {
    int code = errno;
    close(listener);
    return -code;
  }
  *port = ntohs(address.sin_port);
  int process = fork();
  if (process < 0) process = -errno;
  if (process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
      int peer = accept(listener, NULL, NULL);
      if (peer >= 0) close(peer);
    }
  }
  close(listener);
  return process;
}

void CReachBenchmarks_stop_listener(int process) {
  kill(process, SIGKILL);
  waitpid(process, NULL, 0);
}

static void finish(int fd, int is_equal, int64_t *open) {
  int is_open = 0;
  if (is_equal) {
    struct tcp_info info;
    socklen_t length = sizeof info;
    is_open = getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 && info.tcpi_state != TCP_CLOSE;
  } else {
    is_open = 1;
  }
  if (is_open) ++*open;
  struct linger reset = {1, 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  close(fd);
}

int64_t CReachBenchmarks_connect(uint16_t port, int64_t count, int in_flight, int is_equal) {
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) return -errno;
  struct sockaddr_in address = {
    .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct epoll_event events[256];
  int64_t begun = 0, done = 0, open = 0;
  while (done < count) {
    while (begun < count && begun - done < in_flight) {
      int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
      if (fd < 0) {
        int code = errno;
        close(epoll);
        return -code;
      }
      int on = 1;
      if (is_equal) setsockopt(fd, IPPROTO_IP, IP_RECVERR, &on, sizeof on);
      begun++;
      if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) {
        finish(fd, is_equal, &open);
        done++;
        continue;
      }
      struct epoll_event event = {.events = EPOLLOUT, .data.fd = fd};
      if (errno != EINPROGRESS || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
        close(fd);
        done++;
      }
    }
    int ready = epoll_wait(epoll, events, 256, -1);
    for (int i = 0; i < ready; i++) {
      finish(events[i].data.fd, is_equal, &open);
      done++;
    }
  }
  close(epoll);
  return open;
}
