// HTTP requests by libcurl's multi interface (libcurl-multi(3)), driven by somebody else's event loop.
//
// The library is loaded when it is first asked for: with its own libraries it takes 8 MiB, which an agent that asks no
// server has no use for. Every symbol begins with CReachCurl_.
#ifndef CREACHCURL_H
#define CREACHCURL_H

#include <stddef.h>

// Loads libcurl, once for the process; callable on any thread. Returns NULL, or why it cannot be had.
const char *CReachCurl_load(void);

// Interest in a socket: what to watch `descriptor` for. None of both: no longer.
typedef void (*CReachCurl_interest)(void *context, int descriptor, int readable, int writable);
// When to call CReachCurl_act for time, in milliseconds from now; negative: not at all.
typedef void (*CReachCurl_timer)(void *context, long milliseconds);
// Takes a piece of the body. Returns 0 to go on; anything else ends the transfer.
typedef int (*CReachCurl_body)(void *context, const unsigned char *bytes, size_t count);

// One request after another, with what they share.
typedef struct CReachCurl_client CReachCurl_client;

// A client that calls these functions with `context`, on the thread that calls into it. NULL when there is no memory, or
// the library is not loaded.
CReachCurl_client *CReachCurl_open(
    CReachCurl_interest interest, CReachCurl_timer timer, CReachCurl_body body, void *context);
// Ends a client, and the request it may have. The functions are called once more for sockets that end.
void CReachCurl_close(CReachCurl_client *client);

// What to ask for. Texts are copied.
struct CReachCurl_request {
  const char *url;
  const char *resolved;        // HOST:PORT:ADDRESS[,ADDRESS]...: whom the name leads to; NULL where it is an address
  const char *user_agent;
  const char *const *headers;  // ends with NULL
  const char *username;        // for basic authentication, with `password`; or NULL
  const char *password;
  const char *authority_file;  // PEM; NULL: the system's
  const char *certificate_file;
  const char *key_file;
  int skips_verification;
  long timeout_ms;
};

// Begins a request, which must be the only one. Returns 0, or -1 when there is no memory or an option is refused.
int CReachCurl_begin(CReachCurl_client *client, const struct CReachCurl_request *request);
// Ends the request, finished or not.
void CReachCurl_end(CReachCurl_client *client);
// Lets libcurl work on a socket that is ready, or with a negative one on what is due by now.
void CReachCurl_act(CReachCurl_client *client, int descriptor, int is_readable, int is_writable, int has_failed);

// How a request went.
struct CReachCurl_result {
  long status;               // of HTTP; 0 without an answer
  const char *content_type;  // may be NULL; until the request ends
  const char *redirect;      // the absolute URL that an answer leads to; may be NULL; until the request ends
  const char *failure;       // why there is no answer; NULL when there is one
};

// Whether the request is finished; then `result` is filled in.
int CReachCurl_finished(CReachCurl_client *client, struct CReachCurl_result *result);

#endif
