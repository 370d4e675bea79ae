// libmicrohttpd as Swift can call it. Its daemon is started by a function with variable arguments, which Swift cannot
// call, and several of its constants are macros or enumerators that the importer leaves out or types differently from
// one version to the next. Every symbol of ours carries the prefix CMicroHTTPD_.
#ifndef CMICROHTTPD_H
#define CMICROHTTPD_H

// Versions disagree on what is deprecated; what is used here is in all of them since 0.9.75.
#define MHD_NO_DEPRECATION 1
#include <microhttpd.h>

// Called when the first line of a request has come; what it returns becomes the request's own pointer.
typedef void *(*CMicroHTTPD_BeginCallback)(void *context, const char *uri, struct MHD_Connection *connection);

// What the library must be told to start without a certificate. Never called: each session is given its own as it begins.
static inline int CMicroHTTPD_no_certificate(void) { return -1; }

// Starts a daemon that does nothing by itself: no thread, and all descriptors in an epoll of its own. The listening
// socket becomes the daemon's. With `is_secure` its connections speak TLS, once `connected` has given their sessions a
// certificate. Returns NULL when it cannot be started.
static inline struct MHD_Daemon *CMicroHTTPD_start(
    int listen_socket, int is_secure, size_t memory_limit, unsigned int connection_limit, unsigned int address_limit,
    unsigned int idle_seconds, MHD_AccessHandlerCallback handler, CMicroHTTPD_BeginCallback begun,
    MHD_RequestCompletedCallback completed, MHD_NotifyConnectionCallback connected, void *context) {
  return MHD_start_daemon(
      MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (is_secure ? MHD_USE_TLS : 0), 0, NULL, NULL, handler, context,
      MHD_OPTION_HTTPS_CERT_CALLBACK, CMicroHTTPD_no_certificate, MHD_OPTION_LISTEN_SOCKET, listen_socket,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory_limit, MHD_OPTION_CONNECTION_LIMIT, connection_limit,
      MHD_OPTION_PER_IP_CONNECTION_LIMIT, address_limit, MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds,
      MHD_OPTION_URI_LOG_CALLBACK, begun, context, MHD_OPTION_NOTIFY_COMPLETED, completed, context,
      MHD_OPTION_NOTIFY_CONNECTION, connected, context, MHD_OPTION_END);
}

// The daemon's epoll descriptor, or -1.
static inline int CMicroHTTPD_epoll(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
  return info == NULL ? -1 : info->epoll_fd;
}

// The flags the daemon really runs with.
static inline unsigned int CMicroHTTPD_flags(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_FLAGS);
  return info == NULL ? 0 : (unsigned int)info->flags;
}

// Whether flags say that the library makes threads.
static inline int CMicroHTTPD_has_threads(unsigned int flags) {
  return (flags & (MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION)) != 0;
}

// How many connections are open.
static inline unsigned int CMicroHTTPD_connections(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
  return info == NULL ? 0 : info->num_connections;
}

// Milliseconds after which the daemon must be run again whatever happens; -1 for never.
static inline int64_t CMicroHTTPD_timeout(struct MHD_Daemon *daemon) {
  unsigned long long milliseconds;
  if (MHD_get_timeout(daemon, &milliseconds) != MHD_YES) return -1;
  return milliseconds > INT64_MAX ? INT64_MAX : (int64_t)milliseconds;
}

// Lets the daemon do what can be done now.
static inline void CMicroHTTPD_run(struct MHD_Daemon *daemon) { (void)MHD_run(daemon); }

// Stops accepting. The listening socket goes back to the caller; -1 when there is none.
static inline int CMicroHTTPD_quiesce(struct MHD_Daemon *daemon) { return MHD_quiesce_daemon(daemon); }

// The library's truth values.
static inline enum MHD_Result CMicroHTTPD_result(int is_good) { return is_good ? MHD_YES : MHD_NO; }

// The socket of a connection, or -1.
static inline int CMicroHTTPD_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info == NULL ? -1 : info->connect_fd;
}

// The session of a connection that speaks TLS (gnutls_session_t), or NULL.
static inline void *CMicroHTTPD_session(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
  return info == NULL ? NULL : info->tls_session;
}

// Whether a notice about a connection says that it begins.
static inline int CMicroHTTPD_is_start(enum MHD_ConnectionNotificationCode code) {
  return code == MHD_CONNECTION_NOTIFY_STARTED;
}

// Calls the iterator with each header, or with each argument behind the question mark.
static inline void CMicroHTTPD_each_header(
    struct MHD_Connection *connection, MHD_KeyValueIteratorN iterator, void *context) {
  (void)MHD_get_connection_values_n(connection, MHD_HEADER_KIND, iterator, context);
}
static inline void CMicroHTTPD_each_argument(
    struct MHD_Connection *connection, MHD_KeyValueIteratorN iterator, void *context) {
  (void)MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, iterator, context);
}

// A response whose body is a copy of these bytes.
static inline struct MHD_Response *CMicroHTTPD_copy(size_t size, const void *bytes) {
  return MHD_create_response_from_buffer(size, (void *)(uintptr_t)bytes, MHD_RESPMEM_MUST_COPY);
}

// A response whose body is asked for piece by piece; a negative size is one that is not known.
static inline struct MHD_Response *CMicroHTTPD_stream(
    int64_t size, size_t block, MHD_ContentReaderCallback reader, void *context, MHD_ContentReaderFreeCallback free) {
  return MHD_create_response_from_callback(
      size < 0 ? MHD_SIZE_UNKNOWN : (uint64_t)size, block, reader, context, free);
}

// A response to HEAD without a length. Kept from chunks, since a library of 0.9.75 would send the last of them though
// there is no body; the connection ends with it instead.
static inline struct MHD_Response *CMicroHTTPD_head_of_stream(
    MHD_ContentReaderCallback reader, MHD_ContentReaderFreeCallback free) {
  struct MHD_Response *response = CMicroHTTPD_stream(-1, 1024, reader, NULL, free);
  if (response != NULL) (void)MHD_set_response_options(response, (enum MHD_ResponseFlags)1, MHD_RO_END);
  return response;
}

// What a reader returns at the end of the body.
static inline ssize_t CMicroHTTPD_end(void) { return MHD_CONTENT_READER_END_OF_STREAM; }

// Gives the response to the connection and lets go of it.
static inline enum MHD_Result CMicroHTTPD_answer(
    struct MHD_Connection *connection, unsigned int code, struct MHD_Response *response) {
  enum MHD_Result result = MHD_queue_response(connection, code, response);
  MHD_destroy_response(response);
  return result;
}

#endif
