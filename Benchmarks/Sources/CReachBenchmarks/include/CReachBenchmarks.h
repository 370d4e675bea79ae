// What the benchmarks compare with: the same work done in bare C on the same kernel, in the same process.
#ifndef CREACHBENCHMARKS_H
#define CREACHBENCHMARKS_H

#include <stdint.h>

// Begins a process that listens on 127.0.0.1 and takes and closes whatever comes, until it is ended or its parent is.
// Returns its process id, or a negative errno; `port` is where it listens.
int CReachBenchmarks_start_listener(uint16_t *port);

// Ends that process and waits for it.
void CReachBenchmarks_stop_listener(int process);

// Connects `count` times to the port, `in_flight` at a time, over epoll. With `is_equal` each connection also has the
// error queue opened and is asked for TCP_INFO, as the tcp probe does. Returns how many were open, or a negative errno.
int64_t CReachBenchmarks_connect(uint16_t port, int64_t count, int in_flight, int is_equal);

#endif
