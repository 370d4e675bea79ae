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
