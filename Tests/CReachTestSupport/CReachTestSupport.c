#define _GNU_SOURCE
#include "CReachTestSupport.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE 2u
#endif

extern char **environ;

int CReachTestSupport_thread_id(void) { return gettid(); }

int CReachTestSupport_unshare_network(void) { return unshare(CLONE_NEWNET) == 0 ? 0 : errno; }

int CReachTestSupport_enter_network(int fd) { return setns(fd, CLONE_NEWNET) == 0 ? 0 : errno; }

int CReachTestSupport_unshare_descriptors(void) {
  return syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_UNSHARE) == 0 ? 0 : errno;
}

int CReachTestSupport_unshare_mounts(void) {
  if (unshare(CLONE_NEWNS) != 0) return errno;
  return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 ? 0 : errno;
}

int CReachTestSupport_mount_sysfs(void) { return mount("sysfs", "/sys", "sysfs", 0, NULL) == 0 ? 0 : errno; }

int CReachTestSupport_bind_file(const char *source, const char *path) {
  return mount(source, path, NULL, MS_BIND, NULL) == 0 ? 0 : errno;
}

int CReachTestSupport_memory_file(void) {
  int fd = memfd_create("reachd-test", MFD_CLOEXEC);
  return fd >= 0 ? fd : -errno;
}

int CReachTestSupport_run(char *const arguments[], int input, int output, int *status) {
  posix_spawn_file_actions_t actions;
  int code = posix_spawn_file_actions_init(&actions);
  if (code != 0) return code;
  code = posix_spawn_file_actions_adddup2(&actions, input, 0);
  if (code == 0) code = posix_spawn_file_actions_adddup2(&actions, output, 1);
  if (code == 0) code = posix_spawn_file_actions_adddup2(&actions, output, 2);
  pid_t child = 0;
  if (code == 0) code = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0) return code;
  while (waitpid(child, status, 0) < 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

int CReachTestSupport_start(char *const arguments[], int input, int output, int error, int death_signal) {
  pid_t child = fork();
  if (child < 0) return -errno;
  if (child > 0) return child;
  // Only what may be called between fork and exec in a process of several threads.
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGPIPE, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, death_signal);
  // Every descriptor of ours is closed on exec and above standard error, so that none is overwritten before its turn.
  if (dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(error, 2) < 0) _exit(126);
  execvp(arguments[0], arguments);
  _exit(127);
}

int CReachTestSupport_watch_process(int process) {
  int fd = (int)syscall(SYS_pidfd_open, process, 0);
  return fd >= 0 ? fd : -errno;
}

int CReachTestSupport_has_ended(int process) {
  siginfo_t information = {.si_pid = 0};
  if (waitid(P_PID, (id_t)process, &information, WEXITED | WNOHANG | WNOWAIT) != 0) return -errno;
  return information.si_pid != 0;
}

int CReachTestSupport_small_pipe(int ends[]) {
  if (pipe2(ends, O_CLOEXEC) != 0) return errno;
  fcntl(ends[1], F_SETPIPE_SZ, 4096);
  return 0;
}

static int closing(int fd) {
  int code = errno;
  close(fd);
  return -code;
}

int CReachTestSupport_open_tun(const char *name) {
  int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return -errno;
  struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
  snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
  if (ioctl(fd, TUNSETIFF, &request) != 0) return closing(fd);
  return fd;
}

static socklen_t fill(struct sockaddr_storage *storage, const uint8_t *octets, int count, uint32_t scope,
                      uint16_t port) {
  memset(storage, 0, sizeof *storage);
  if (count == 4) {
    struct sockaddr_in *v4 = (struct sockaddr_in *)storage;
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    memcpy(&v4->sin_addr, octets, 4);
    return sizeof *v4;
  }
  struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)storage;
  v6->sin6_family = AF_INET6;
  v6->sin6_port = htons(port);
  v6->sin6_scope_id = scope;
  memcpy(&v6->sin6_addr, octets, 16);
  return sizeof *v6;
}

static int tcp_socket(int count) {
  return socket(count == 4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

int CReachTestSupport_bind_tcp(const uint8_t *octets, int count, uint32_t scope, uint16_t *port) {
  int fd = tcp_socket(count);
  if (fd < 0) return -errno;
  struct sockaddr_storage storage;
  socklen_t length = fill(&storage, octets, count, scope, *port);
  if (bind(fd, (struct sockaddr *)&storage, length) != 0) return closing(fd);
  if (getsockname(fd, (struct sockaddr *)&storage, &length) != 0) return closing(fd);
  *port = ntohs(count == 4 ? ((struct sockaddr_in *)&storage)->sin_port : ((struct sockaddr_in6 *)&storage)->sin6_port);
  return fd;
}

int CReachTestSupport_begin_tcp(const uint8_t *octets, int count, uint32_t scope, uint16_t port) {
  int fd = tcp_socket(count);
  if (fd < 0) return -errno;
  struct sockaddr_storage storage;
  socklen_t length = fill(&storage, octets, count, scope, port);
  if (connect(fd, (struct sockaddr *)&storage, length) != 0 && errno != EINPROGRESS) return closing(fd);
  return fd;
}

int CReachTestSupport_wait_readable(int fd, int milliseconds) {
  struct pollfd entry = {.fd = fd, .events = POLLIN};
  int count = poll(&entry, 1, milliseconds);
  return count < 0 ? -errno : count;
}
