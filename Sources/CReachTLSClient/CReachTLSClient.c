#include "CReachTLSClient.h"

#include <arpa/inet.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CReachTLS_Credentials {
  gnutls_certificate_credentials_t gnutls;
};

struct CReachTLS_Session {
  gnutls_session_t gnutls;
  CReachTLS_Credentials *credentials;
  int verifies;
  int last;
  char name[256];
};

struct CReachTLS_Peer {
  int version;
  int64_t earliest_expiry;
  int64_t chain_expiry;
  char fingerprint[65];
  char serial[129];
  char subject[1024];
  char issuer[1024];
  char names[4096];
};

static void say(char *error, size_t size, const char *what, int code) {
  if (size > 0) snprintf(error, size, "%s%s%s", what, code < 0 ? ": " : "", code < 0 ? gnutls_strerror(code) : "");
}

CReachTLS_Credentials *CReachTLS_load(
    const char *authorities, const char *certificate, const char *key, char *error, size_t error_size) {
  CReachTLS_Credentials *credentials = calloc(1, sizeof *credentials);
  if (!credentials || gnutls_certificate_allocate_credentials(&credentials->gnutls) < 0) {
    free(credentials);
    say(error, error_size, "out of memory", 0);
    return NULL;
  }
  int code = 1;
  if (!authorities) {
    // A system without authorities trusts nobody, which the handshake then says.
    gnutls_certificate_set_x509_system_trust(credentials->gnutls);
  } else if (authorities[0]) {
    code = gnutls_certificate_set_x509_trust_file(credentials->gnutls, authorities, GNUTLS_X509_FMT_PEM);
  }
  if (code <= 0) {
    say(error, error_size, "ca_file has no certificate that can be read", code);
    CReachTLS_unload(credentials);
    return NULL;
  }
  if (certificate && key) {
    code = gnutls_certificate_set_x509_key_file(credentials->gnutls, certificate, key, GNUTLS_X509_FMT_PEM);
    if (code < 0) {
      say(error, error_size, "cert_file and key_file cannot be used", code);
      CReachTLS_unload(credentials);
      return NULL;
    }
  }
  return credentials;
}

void CReachTLS_unload(CReachTLS_Credentials *credentials) {
  gnutls_certificate_free_credentials(credentials->gnutls);
  free(credentials);
}

static int is_address(const char *name) {
  unsigned char bytes[16];
  return inet_pton(AF_INET, name, bytes) == 1 || inet_pton(AF_INET6, name, bytes) == 1;
}

CReachTLS_Session *CReachTLS_begin(
    CReachTLS_Credentials *credentials, int socket, const char *name, int verifies, const char *priority, char *error,
    size_t error_size) {
  CReachTLS_Session *session = calloc(1, sizeof *session);
  if (!session || gnutls_init(&session->gnutls, GNUTLS_CLIENT | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL) < 0) {
    free(session);
    say(error, error_size, "out of memory", 0);
    return NULL;
  }
  session->credentials = credentials;
  session->verifies = verifies;
  snprintf(session->name, sizeof session->name, "%s", name);
  int code = gnutls_priority_set_direct(session->gnutls, priority, NULL);
  if (code >= 0) code = gnutls_credentials_set(session->gnutls, GNUTLS_CRD_CERTIFICATE, credentials->gnutls);
  if (code >= 0 && name[0] && !is_address(name)) {
    code = gnutls_server_name_set(session->gnutls, GNUTLS_NAME_DNS, name, strlen(name));
  }
  if (code < 0) {
    say(error, error_size, "TLS cannot be set up", code);
    CReachTLS_end(session);
    return NULL;
  }
  if (verifies) gnutls_session_set_verify_cert(session->gnutls, session->name, 0);
  gnutls_transport_set_int(session->gnutls, socket);
  return session;
}

void CReachTLS_bye(CReachTLS_Session *session) { gnutls_bye(session->gnutls, GNUTLS_SHUT_WR); }

void CReachTLS_end(CReachTLS_Session *session) {
  gnutls_deinit(session->gnutls);
  free(session);
}

static ptrdiff_t outcome(CReachTLS_Session *session, ptrdiff_t code) {
  if (code >= 0) return code;
  if (code == GNUTLS_E_AGAIN || code == GNUTLS_E_INTERRUPTED) {
    return gnutls_record_get_direction(session->gnutls) ? CReachTLS_wants_write : CReachTLS_wants_read;
  }
  session->last = (int)code;
  return CReachTLS_failed;
}

int CReachTLS_handshake(CReachTLS_Session *session) {
  for (;;) {
    int code = gnutls_handshake(session->gnutls);
    // A warning, such as an unrecognised name, does not end it.
    if (code == GNUTLS_E_WARNING_ALERT_RECEIVED) continue;
    return (int)outcome(session, code);
  }
}

ptrdiff_t CReachTLS_read(CReachTLS_Session *session, uint8_t *bytes, size_t count) {
  for (;;) {
    ssize_t code = gnutls_record_recv(session->gnutls, bytes, count);
    // Many peers end without a close_notify.
    if (code == GNUTLS_E_PREMATURE_TERMINATION) return 0;
    if (code == GNUTLS_E_WARNING_ALERT_RECEIVED) continue;
    if (code == GNUTLS_E_REHANDSHAKE) {
      gnutls_alert_send(session->gnutls, GNUTLS_AL_WARNING, GNUTLS_A_NO_RENEGOTIATION);
      continue;
    }
    return outcome(session, code);
  }
}

ptrdiff_t CReachTLS_write(CReachTLS_Session *session, const uint8_t *bytes, size_t count) {
  return outcome(session, gnutls_record_send(session->gnutls, bytes, count));
}

void CReachTLS_explain(CReachTLS_Session *session, char *error, size_t error_size) {
  if (session->last == GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR) {
    gnutls_datum_t text = {NULL, 0};
    unsigned int status = gnutls_session_get_verify_cert_status(session->gnutls);
    if (gnutls_certificate_verification_status_print(status, GNUTLS_CRT_X509, &text, 0) >= 0) {
      say(error, error_size, (const char *)text.data, 0);
      gnutls_free(text.data);
      return;
    }
  }
  if (session->last == GNUTLS_E_FATAL_ALERT_RECEIVED) {
    const char *alert = gnutls_alert_get_name(gnutls_alert_get(session->gnutls));
    if (error_size > 0) snprintf(error, error_size, "the peer refuses: %s", alert ? alert : "unknown alert");
    return;
  }
  say(error, error_size, "TLS", session->last);
}

int CReachTLS_is_refused(const CReachTLS_Session *session) { return session->last == GNUTLS_E_FATAL_ALERT_RECEIVED; }

static void hexadecimal(char *text, size_t size, const unsigned char *bytes, size_t count) {
  if (size == 0) return;
  text[0] = 0;
  for (size_t index = 0; index < count && 2 * index + 2 < size; index++) sprintf(text + 2 * index, "%02x", bytes[index]);
}

// Appends what fits.
static void append(char *text, size_t size, const char *more) {
  size_t used = strlen(text);
  if (used + 1 < size) snprintf(text + used, size - used, "%s", more);
}

// Appends `key=value` behind a separator, which the first pair does without.
static void append_pair(char *text, size_t size, const char *separator, const char *key, const char *value) {
  if (text[0]) append(text, size, separator);
  append(text, size, key);
  append(text, size, "=");
  append(text, size, value);
}

typedef int (*name_getter)(gnutls_x509_crt_t, const char *, unsigned, unsigned, void *, size_t *);

// The name in the order that Go writes it in: the reverse of country, organisation and so on, whatever the
// certificate's own order.
static void describe_name(gnutls_x509_crt_t certificate, name_getter get, char *text, size_t size) {
  static const struct {
    const char *oid, *key;
  } kinds[] = {
      {"2.5.4.5", "SERIALNUMBER"}, {"2.5.4.3", "CN"}, {"2.5.4.11", "OU"}, {"2.5.4.10", "O"}, {"2.5.4.17", "POSTALCODE"},
      {"2.5.4.9", "STREET"},       {"2.5.4.7", "L"},  {"2.5.4.8", "ST"},  {"2.5.4.6", "C"},
  };
  text[0] = 0;
  for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++) {
    // Of these the last counts, of the others all.
    int is_single = kind < 2;
    char values[2][512];
    unsigned found = 0;
    for (; found < 16; found++) {
      // GnuTLS escapes what RFC 4514 section 2.4 wants.
      size_t count = sizeof values[0];
      if (get(certificate, kinds[kind].oid, found, 0, values[found % 2], &count) < 0) break;
      if (!is_single) append_pair(text, size, found > 0 ? "+" : ",", kinds[kind].key, values[found % 2]);
    }
    if (is_single && found > 0) append_pair(text, size, ",", kinds[kind].key, values[(found - 1) % 2]);
  }
}

static int get_subject(
    gnutls_x509_crt_t certificate, const char *oid, unsigned index, unsigned raw, void *value, size_t *count) {
  return gnutls_x509_crt_get_dn_by_oid(certificate, oid, index, raw, value, count);
}

static int get_issuer(
    gnutls_x509_crt_t certificate, const char *oid, unsigned index, unsigned raw, void *value, size_t *count) {
  return gnutls_x509_crt_get_issuer_dn_by_oid(certificate, oid, index, raw, value, count);
}

static void describe_names(gnutls_x509_crt_t certificate, char *text, size_t size) {
  text[0] = 0;
  for (unsigned index = 0; index < 256; index++) {
    char name[512];
    size_t count = sizeof name - 1;
    int type = gnutls_x509_crt_get_subject_alt_name(certificate, index, name, &count, NULL);
    if (type == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE) break;
    if (type != GNUTLS_SAN_DNSNAME) continue;
    name[count] = 0;
    if (text[0]) append(text, size, ",");
    append(text, size, name);
  }
}

// When the first certificate of the way from the peer's own to a trusted one expires; 0 when there is no such way.
static int64_t chain_expiry(CReachTLS_Session *session, gnutls_x509_crt_t *certificates, unsigned count) {
  gnutls_x509_trust_list_t trusted;
  gnutls_certificate_get_trust_list(session->credentials->gnutls, &trusted);
  if (!trusted) return 0;
  gnutls_x509_crt_t current = certificates[0];
  int64_t expiry = gnutls_x509_crt_get_expiration_time(current);
  for (unsigned step = 0; step <= count; step++) {
    gnutls_x509_crt_t issuer = NULL;
    if (gnutls_x509_trust_list_get_issuer(trusted, current, &issuer, GNUTLS_TL_GET_COPY) == 0) {
      int64_t end = gnutls_x509_crt_get_expiration_time(issuer);
      gnutls_x509_crt_deinit(issuer);
      return end < expiry ? end : expiry;
    }
    gnutls_x509_crt_t next = NULL;
    for (unsigned index = 1; index < count && !next; index++) {
      if (certificates[index] != current && gnutls_x509_crt_check_issuer(current, certificates[index])) {
        next = certificates[index];
      }
    }
    if (!next) return 0;
    current = next;
    int64_t end = gnutls_x509_crt_get_expiration_time(current);
    if (end < expiry) expiry = end;
  }
  return 0;
}

CReachTLS_Peer *CReachTLS_describe(CReachTLS_Session *session) {
  CReachTLS_Peer *peer = calloc(1, sizeof *peer);
  if (!peer) return NULL;
  switch (gnutls_protocol_get_version(session->gnutls)) {
    case GNUTLS_TLS1_0: peer->version = 0x0301; break;
    case GNUTLS_TLS1_1: peer->version = 0x0302; break;
    case GNUTLS_TLS1_2: peer->version = 0x0303; break;
    case GNUTLS_TLS1_3: peer->version = 0x0304; break;
    default: break;
  }
  unsigned count = 0;
  const gnutls_datum_t *raw = gnutls_certificate_get_peers(session->gnutls, &count);
  if (!raw) count = 0;
  if (count > 32) count = 32;
  gnutls_x509_crt_t certificates[32];
  unsigned made = 0;
  for (; made < count; made++) {
    if (gnutls_x509_crt_init(&certificates[made]) < 0) break;
    if (gnutls_x509_crt_import(certificates[made], &raw[made], GNUTLS_X509_FMT_DER) < 0) {
      gnutls_x509_crt_deinit(certificates[made]);
      break;
    }
    int64_t end = gnutls_x509_crt_get_expiration_time(certificates[made]);
    if (made == 0 || end < peer->earliest_expiry) peer->earliest_expiry = end;
  }
  if (made == 0) {
    free(peer);
    return NULL;
  }
  unsigned char bytes[64];
  size_t size = sizeof bytes;
  if (gnutls_x509_crt_get_fingerprint(certificates[0], GNUTLS_DIG_SHA256, bytes, &size) >= 0) {
    hexadecimal(peer->fingerprint, sizeof peer->fingerprint, bytes, size);
  }
  size = sizeof bytes;
  if (gnutls_x509_crt_get_serial(certificates[0], bytes, &size) >= 0) {
    size_t zeros = 0;
    while (zeros < size && bytes[zeros] == 0) zeros++;
    hexadecimal(peer->serial, sizeof peer->serial, bytes + zeros, size - zeros);
  }
  describe_name(certificates[0], get_subject, peer->subject, sizeof peer->subject);
  describe_name(certificates[0], get_issuer, peer->issuer, sizeof peer->issuer);
  describe_names(certificates[0], peer->names, sizeof peer->names);
  if (session->verifies) peer->chain_expiry = chain_expiry(session, certificates, made);
  for (unsigned index = 0; index < made; index++) gnutls_x509_crt_deinit(certificates[index]);
  return peer;
}

void CReachTLS_forget(CReachTLS_Peer *peer) { free(peer); }

int CReachTLS_version(const CReachTLS_Peer *peer) { return peer->version; }

int64_t CReachTLS_earliest_expiry(const CReachTLS_Peer *peer) { return peer->earliest_expiry; }

int64_t CReachTLS_chain_expiry(const CReachTLS_Peer *peer, int64_t otherwise) {
  return peer->chain_expiry ? peer->chain_expiry : otherwise;
}

const char *CReachTLS_text(const CReachTLS_Peer *peer, int which) {
  switch (which) {
    case CReachTLS_fingerprint: return peer->fingerprint;
    case CReachTLS_serial: return peer->serial;
    case CReachTLS_subject: return peer->subject;
    case CReachTLS_issuer: return peer->issuer;
    case CReachTLS_names: return peer->names;
    default: return "";
  }
}
