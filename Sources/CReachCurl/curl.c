#define CURL_DISABLE_TYPECHECK 1

#include "CReachCurl.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// Every function of libcurl that is used, by its own name.
#define FUNCTIONS(each)                                                                                          \
  each(curl_global_init) each(curl_easy_init) each(curl_easy_cleanup) each(curl_easy_setopt)                     \
  each(curl_easy_getinfo) each(curl_easy_strerror) each(curl_slist_append) each(curl_slist_free_all)             \
  each(curl_multi_init) each(curl_multi_cleanup) each(curl_multi_setopt) each(curl_multi_add_handle)             \
  each(curl_multi_remove_handle) each(curl_multi_socket_action) each(curl_multi_info_read) each(curl_version_info)

#define DECLARE(name) static __typeof__(&(name)) p_##name;
FUNCTIONS(DECLARE)

static const char *load(void) {
  // Both flavours have the same interface; they differ in whose TLS they use.
  void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (!library) library = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
  if (!library) return "libcurl is not installed (libcurl.so.4)";
#define FIND(name) \
  if (!(p_##name = (__typeof__(p_##name))dlsym(library, #name))) return "libcurl has no function " #name;
  FUNCTIONS(FIND)
  curl_version_info_data *version = p_curl_version_info(CURLVERSION_NOW);
  if (version->version_num < 0x075500) return "libcurl is older than 7.85";
  if (p_curl_global_init(CURL_GLOBAL_ALL) != CURLE_OK) return "libcurl cannot be set up";
  return NULL;
}

static const char *load_problem;
static void load_once(void) { load_problem = load(); }

const char *CReachCurl_load(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load_once);
  return load_problem;
}

struct CReachCurl_client {
  CURLM *multi;
  CURL *easy;
  struct curl_slist *headers;
  struct curl_slist *resolved;
  char error[CURL_ERROR_SIZE];
  char failure[CURL_ERROR_SIZE + 128];
  int is_finished;
  CURLcode code;
  CReachCurl_interest interest;
  CReachCurl_timer timer;
  CReachCurl_body body;
  void *context;
};

static int socket_changed(CURL *easy, curl_socket_t descriptor, int what, void *context, void *unused) {
  (void)easy;
  (void)unused;
  CReachCurl_client *client = context;
  client->interest(client->context, descriptor, what == CURL_POLL_IN || what == CURL_POLL_INOUT,
                   what == CURL_POLL_OUT || what == CURL_POLL_INOUT);
  return 0;
}

static int timer_changed(CURLM *multi, long milliseconds, void *context) {
  (void)multi;
  CReachCurl_client *client = context;
  client->timer(client->context, milliseconds);
  return 0;
}

static size_t body_arrived(char *bytes, size_t size, size_t count, void *context) {
  CReachCurl_client *client = context;
  size_t total = size * count;
  return client->body(client->context, (const unsigned char *)bytes, total) == 0 ? total : (total == 0 ? 1 : 0);
}

CReachCurl_client *CReachCurl_open(
    CReachCurl_interest interest, CReachCurl_timer timer, CReachCurl_body body, void *context) {
  if (CReachCurl_load()) return NULL;
  CReachCurl_client *client = calloc(1, sizeof *client);
  if (!client) return NULL;
  client->interest = interest;
  client->timer = timer;
  client->body = body;
  client->context = context;
  client->multi = p_curl_multi_init();
  if (!client->multi) {
    free(client);
    return NULL;
  }
  p_curl_multi_setopt(client->multi, CURLMOPT_SOCKETFUNCTION, socket_changed);
  p_curl_multi_setopt(client->multi, CURLMOPT_SOCKETDATA, client);
  p_curl_multi_setopt(client->multi, CURLMOPT_TIMERFUNCTION, timer_changed);
  p_curl_multi_setopt(client->multi, CURLMOPT_TIMERDATA, client);
  // What is asked once a minute keeps no connection between.
  p_curl_multi_setopt(client->multi, CURLMOPT_MAXCONNECTS, 1L);
  return client;
}

void CReachCurl_end(CReachCurl_client *client) {
  if (client->easy) {
    p_curl_multi_remove_handle(client->multi, client->easy);
    p_curl_easy_cleanup(client->easy);
    client->easy = NULL;
  }
  p_curl_slist_free_all(client->headers);
  p_curl_slist_free_all(client->resolved);
  client->headers = client->resolved = NULL;
  client->is_finished = 0;
}

void CReachCurl_close(CReachCurl_client *client) {
  CReachCurl_end(client);
  p_curl_multi_cleanup(client->multi);
  free(client);
}

static int append(struct curl_slist **list, const char *text) {
  struct curl_slist *longer = p_curl_slist_append(*list, text);
  if (!longer) return 0;
  *list = longer;
  return 1;
}

static int set_up(CReachCurl_client *client, const struct CReachCurl_request *request) {
  CURL *easy = client->easy;
#define SET(option, value) \
  if (p_curl_easy_setopt(easy, option, value) != CURLE_OK) return 0;
  for (const char *const *header = request->headers; header && *header; header++)
    if (!append(&client->headers, *header)) return 0;
  if (request->resolved && !append(&client->resolved, request->resolved)) return 0;
  SET(CURLOPT_ERRORBUFFER, client->error)
  SET(CURLOPT_WRITEFUNCTION, body_arrived)
  SET(CURLOPT_WRITEDATA, client)
  SET(CURLOPT_URL, request->url)
  SET(CURLOPT_PROTOCOLS_STR, "http,https")
  SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1)
  SET(CURLOPT_HTTPHEADER, client->headers)
  SET(CURLOPT_USERAGENT, request->user_agent)
  SET(CURLOPT_ACCEPT_ENCODING, "gzip")
  if (client->resolved) SET(CURLOPT_RESOLVE, client->resolved)
  // Neither a signal for time-outs, nor a proxy of the environment, nor a redirect that is not looked at first.
  SET(CURLOPT_NOSIGNAL, 1L)
  SET(CURLOPT_PROXY, "")
  SET(CURLOPT_FOLLOWLOCATION, 0L)
  SET(CURLOPT_FRESH_CONNECT, 1L)
  SET(CURLOPT_FORBID_REUSE, 1L)
  SET(CURLOPT_TIMEOUT_MS, request->timeout_ms)
  if (request->username) {
    SET(CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC)
    SET(CURLOPT_USERNAME, request->username)
    SET(CURLOPT_PASSWORD, request->password)
  }
  if (request->authority_file) SET(CURLOPT_CAINFO, request->authority_file)
  if (request->certificate_file) SET(CURLOPT_SSLCERT, request->certificate_file)
  if (request->key_file) SET(CURLOPT_SSLKEY, request->key_file)
  SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2)
  SET(CURLOPT_SSL_VERIFYPEER, request->skips_verification ? 0L : 1L)
  SET(CURLOPT_SSL_VERIFYHOST, request->skips_verification ? 0L : 2L)
  return 1;
}

int CReachCurl_begin(CReachCurl_client *client, const struct CReachCurl_request *request) {
  client->error[0] = 0;
  client->easy = p_curl_easy_init();
  if (client->easy && set_up(client, request) && p_curl_multi_add_handle(client->multi, client->easy) == CURLM_OK)
    return 0;
  if (client->easy) p_curl_easy_cleanup(client->easy);
  client->easy = NULL;
  CReachCurl_end(client);
  return -1;
}

void CReachCurl_act(CReachCurl_client *client, int descriptor, int is_readable, int is_writable, int has_failed) {
  int running = 0;
  int mask = (is_readable ? CURL_CSELECT_IN : 0) | (is_writable ? CURL_CSELECT_OUT : 0) |
             (has_failed ? CURL_CSELECT_ERR : 0);
  p_curl_multi_socket_action(client->multi, descriptor < 0 ? CURL_SOCKET_TIMEOUT : descriptor, mask, &running);
  int left = 0;
  CURLMsg *message;
  while ((message = p_curl_multi_info_read(client->multi, &left))) {
    if (message->msg != CURLMSG_DONE || message->easy_handle != client->easy) continue;
    client->is_finished = 1;
    client->code = message->data.result;
  }
}

// Why a request failed, in words that stay the same from one time to the next.
static const char *failure(CReachCurl_client *client) {
  switch (client->code) {
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
      // Only here does libcurl know more than its code says.
      if (client->error[0]) {
        strncpy(client->failure, client->error, sizeof client->failure - 1);
        return client->failure;
      }
      return p_curl_easy_strerror(client->code);
    default: return p_curl_easy_strerror(client->code);
  }
}

int CReachCurl_finished(CReachCurl_client *client, struct CReachCurl_result *result) {
  if (!client->easy || !client->is_finished) return 0;
  memset(result, 0, sizeof *result);
  p_curl_easy_getinfo(client->easy, CURLINFO_RESPONSE_CODE, &result->status);
  p_curl_easy_getinfo(client->easy, CURLINFO_CONTENT_TYPE, &result->content_type);
  p_curl_easy_getinfo(client->easy, CURLINFO_REDIRECT_URL, &result->redirect);
  if (client->code != CURLE_OK) result->failure = failure(client);
  return 1;
}
