// What the benchmarks compare with: the same work done in bare C on the same kernel, in the same process.
#ifndef CREACHBENCHMARKS_H
#define CREACHBENCHMARKS_H

#include <stdint.h>

// Begins a process that listens on an IPv4 address (in host order) and takes and closes whatever comes, until it is
// ended or its parent is. Returns its process id, or a negative errno; `port` is where it listens.
int CReachBenchmarks_start_listener(uint32_t address, uint16_t *port);

// Ends that process and waits for it.
void CReachBenchmarks_stop_listener(int process);

// Connects `count` times to the port, `in_flight` at a time, over epoll. With `is_equal` each connection also has the
// error queue opened and is asked for TCP_INFO, as the tcp probe does. Returns how many were open, or a negative errno.
int64_t CReachBenchmarks_connect(uint16_t port, int64_t count, int in_flight, int is_equal);

// Puts the calling thread into a network namespace of its own (unshare(2)). Returns 0 or an errno.
int CReachBenchmarks_unshare_network(void);

// Puts the calling thread into the network namespace that the descriptor holds (setns(2)). Returns 0 or an errno.
int CReachBenchmarks_enter_network(int fd);

// Starts a program with this descriptor as its standard output and error; it ends with the calling thread at the
// latest. Returns its process id, or a negative errno.
int CReachBenchmarks_start(char *const arguments[], int output);

// Waits for the end of a process. Returns its exit status, or -1 when a signal ended it.
int CReachBenchmarks_wait(int process);

// A pipe that holds up to a MiB, its reading end first and nonblocking. Returns 0 or an errno.
int CReachBenchmarks_large_pipe(int ends[]);

// A socket for `CReachBenchmarks_set_up`, which acts on the namespace it was made in; or a negative errno.
int CReachBenchmarks_control_socket(void);

// Sets an interface up or down (netdevice(7), SIOCSIFFLAGS). Returns 0 or an errno.
int CReachBenchmarks_set_up(int control, const char *name, int is_up);

// A socket that is told of every change of an interface and does nothing else (rtnetlink(7), RTMGRP_LINK), nonblocking;
// or a negative errno.
int CReachBenchmarks_link_listener(void);

// Reads what a link listener has been told. Returns whether that interface lost its carrier.
int CReachBenchmarks_heard_carrier_loss(int listener, int index);

// Connects to a port of 127.0.0.1. Returns the descriptor, or a negative errno.
int CReachBenchmarks_connect_to(uint16_t port);

#endif
