// c-ares (ares_init_options(3) and its companions) as the dns probe uses it, the same for every version from 1.18 on.
// The status numbers are macros in some versions and an enumeration in others, some calls are marked as deprecated in
// the newest, and the options structure grows: all of that stays in here. Every symbol of ours begins with CCares_.
#ifndef CCARES_H
#define CCARES_H

#define CARES_NO_DEPRECATED 1

#include <ares.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

// What a channel is opened with: one server, one transport, every query tried once.
struct CCares_settings {
  int family;  // AF_INET or AF_INET6
  unsigned char address[16];
  int port;
  int uses_tcp;
  int edns_size;  // 0: no EDNS
  int timeout_ms;
  ares_sock_state_cb socket_changed;
  const struct ares_socket_functions *functions;  // kept by c-ares: must outlive the channel
  void *context;                                  // given to every function above
};

// Opens a channel that reads no file of the system, keeps its UDP socket, caches nothing, and passes on every answer
// as it is. Returns a status of c-ares.
static inline int CCares_open(ares_channel *channel, const struct CCares_settings *settings) {
  struct ares_options options;
  memset(&options, 0, sizeof options);
  options.flags = ARES_FLAG_NOCHECKRESP | ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES | ARES_FLAG_IGNTC;
  // A TCP connection ends with its last query; a UDP socket stays for the next.
  options.flags |= settings->uses_tcp ? ARES_FLAG_USEVC : ARES_FLAG_STAYOPEN;
  if (settings->edns_size > 0) options.flags |= ARES_FLAG_EDNS;
  options.ednspsz = settings->edns_size;
  options.timeout = settings->timeout_ms;
  options.tries = 1;
  options.ndots = 1;
  options.lookups = (char *)"b";
  options.resolvconf_path = (char *)"/dev/null";
  options.sock_state_cb = settings->socket_changed;
  options.sock_state_cb_data = settings->context;
  // Servers, domains and sort list are given as empty, so that no default of the system is looked for.
  int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_NDOTS | ARES_OPT_LOOKUPS |
             ARES_OPT_RESOLVCONF | ARES_OPT_SOCK_STATE_CB | ARES_OPT_SERVERS | ARES_OPT_DOMAINS | ARES_OPT_SORTLIST |
             ARES_OPT_NOROTATE;
  if (settings->edns_size > 0) mask |= ARES_OPT_EDNSPSZ;
#ifdef ARES_OPT_QUERY_CACHE
  mask |= ARES_OPT_QUERY_CACHE;
  options.qcache_max_ttl = 0;
#endif
  int status = ares_init_options(channel, &options, mask);
  if (status != ARES_SUCCESS) return status;
  struct ares_addr_port_node server;
  memset(&server, 0, sizeof server);
  server.family = settings->family;
  if (settings->family == AF_INET6) {
    memcpy(&server.addr.addr6, settings->address, 16);
  } else {
    memcpy(&server.addr.addr4, settings->address, 4);
  }
  server.udp_port = settings->port;
  server.tcp_port = settings->port;
  status = ares_set_servers_ports(*channel, &server);
  if (status != ARES_SUCCESS) {
    ares_destroy(*channel);
    return status;
  }
  ares_set_socket_functions(*channel, settings->functions, settings->context);
  return ARES_SUCCESS;
}

// Asks one question of class IN (ares_query(3)). The callback may run before this returns.
static inline void CCares_query(ares_channel channel, const char *name, int type, ares_callback callback, void *arg) {
  ares_query(channel, name, 1, type, callback, arg);
}

// Opens a channel for one question, by the system's own name servers, files and search list, or by these servers (as
// ares_set_servers_ports_csv(3) has them) where `servers` is no NULL. Returns a status of c-ares.
static inline int CCares_open_system(
    ares_channel *channel, const char *servers, ares_sock_state_cb socket_changed, void *context) {
  struct ares_options options;
  memset(&options, 0, sizeof options);
  options.timeout = 2000;
  options.tries = 2;
  options.sock_state_cb = socket_changed;
  options.sock_state_cb_data = context;
  int mask = ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB;
#ifdef ARES_OPT_QUERY_CACHE
  mask |= ARES_OPT_QUERY_CACHE;
  options.qcache_max_ttl = 0;
#endif
  int status = ares_init_options(channel, &options, mask);
  if (status != ARES_SUCCESS || !servers) return status;
  status = ares_set_servers_ports_csv(*channel, servers);
  if (status != ARES_SUCCESS) ares_destroy(*channel);
  return status;
}

// In how many milliseconds the channel is to be looked after, whatever its sockets do; negative: not at all.
static inline long CCares_next_timeout(ares_channel channel) {
  struct timeval room;
  struct timeval *left = ares_timeout(channel, NULL, &room);
  return left ? left->tv_sec * 1000L + (left->tv_usec + 999) / 1000 : -1;
}

// Lets the channel work on a socket that is ready, or with a negative one on what is due by now.
static inline void CCares_process(ares_channel channel, int descriptor, int is_readable, int is_writable) {
  ares_process_fd(channel, descriptor >= 0 && is_readable ? descriptor : ARES_SOCKET_BAD,
                  descriptor >= 0 && is_writable ? descriptor : ARES_SOCKET_BAD);
}

// Asks for the addresses of a name (ares_getaddrinfo(3)). The callback may run before this returns.
static inline void CCares_addresses(
    ares_channel channel, const char *name, ares_addrinfo_callback callback, void *context) {
  struct ares_addrinfo_hints hints;
  memset(&hints, 0, sizeof hints);
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = ARES_AI_NOSORT;
  ares_getaddrinfo(channel, name, NULL, &hints, callback, context);
}

// Whether a status says that there is no such name, or none with records of that type.
static inline int CCares_is_nothing(int status) {
  return status == ARES_ENOTFOUND || status == ARES_ENODATA || status == ARES_ENONAME;
}

// What a status of c-ares stands for, as far as the probe cares.
enum CCares_meaning {
  CCares_meaning_answer,      // the server answered; the bytes say what
  CCares_meaning_connection,  // the connection failed; errno told why when it did
  CCares_meaning_timeout,
  CCares_meaning_malformed,
  CCares_meaning_memory,
  CCares_meaning_name,       // the name cannot be put into a query
  CCares_meaning_cancelled,  // by us
};

static inline enum CCares_meaning CCares_meaning_of(int status) {
  switch (status) {
    case ARES_SUCCESS:
    case ARES_ENODATA:
    case ARES_EFORMERR:
    case ARES_ESERVFAIL:
    case ARES_ENOTFOUND:
    case ARES_ENOTIMP:
    case ARES_EREFUSED: return CCares_meaning_answer;
    case ARES_ETIMEOUT: return CCares_meaning_timeout;
    case ARES_EBADRESP: return CCares_meaning_malformed;
    case ARES_ENOMEM: return CCares_meaning_memory;
    case ARES_EBADQUERY:
    case ARES_EBADNAME:
    case ARES_EBADSTR: return CCares_meaning_name;
    case ARES_ECANCELLED:
    case ARES_EDESTRUCTION: return CCares_meaning_cancelled;
    default: return CCares_meaning_connection;
  }
}

// Numbers of ip(7), ipv6(7) and recv(2) that the Glibc module spells in its own ways or leaves out.
static inline int CCares_ip_recverr(void) { return IP_RECVERR; }
static inline int CCares_ipv6_recverr(void) { return IPV6_RECVERR; }
static inline int CCares_msg_errqueue(void) { return MSG_ERRQUEUE | MSG_DONTWAIT; }

#endif
