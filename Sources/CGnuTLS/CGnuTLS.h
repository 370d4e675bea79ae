// GnuTLS as Swift can call it: handles that the importer types differently, and calls that take a datum. Every symbol of
// ours carries the prefix CGnuTLS_.
#ifndef CGNUTLS_H
#define CGNUTLS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

static inline gnutls_datum_t CGnuTLS_datum(const void *bytes, size_t size) {
  gnutls_datum_t datum = {(unsigned char *)(uintptr_t)bytes, (unsigned int)size};
  return datum;
}

// What is known of a certificate in PEM.
struct CGnuTLS_certificate {
  // GNUTLS_PK_RSA and so on, and the size of its key.
  int algorithm;
  unsigned int bits;
  time_t activation, expiration;
};

// Looks at the first certificate. Returns 0, or what went wrong.
static inline int CGnuTLS_look(const void *pem, size_t size, struct CGnuTLS_certificate *found) {
  gnutls_datum_t datum = CGnuTLS_datum(pem, size);
  gnutls_x509_crt_t *list = NULL;
  unsigned int count = 0;
  int code = gnutls_x509_crt_list_import2(&list, &count, &datum, GNUTLS_X509_FMT_PEM, GNUTLS_X509_CRT_LIST_SORT);
  if (code < 0) return code;
  if (count == 0) code = GNUTLS_E_NO_CERTIFICATE_FOUND;
  if (count > 0) {
    found->algorithm = gnutls_x509_crt_get_pk_algorithm(list[0], &found->bits);
    found->activation = gnutls_x509_crt_get_activation_time(list[0]);
    found->expiration = gnutls_x509_crt_get_expiration_time(list[0]);
  }
  for (unsigned int index = 0; index < count; index++) gnutls_x509_crt_deinit(list[index]);
  gnutls_free(list);
  return code < 0 ? code : 0;
}

// Whether it is a key in PEM without a password. Returns 0, or what went wrong.
static inline int CGnuTLS_look_at_key(const void *pem, size_t size) {
  gnutls_datum_t datum = CGnuTLS_datum(pem, size);
  gnutls_x509_privkey_t key;
  int code = gnutls_x509_privkey_init(&key);
  if (code < 0) return code;
  code = gnutls_x509_privkey_import2(key, &datum, GNUTLS_X509_FMT_PEM, NULL, 0);
  gnutls_x509_privkey_deinit(key);
  return code;
}

// Gives the credentials a certificate and its key, both in PEM. Returns 0, or what went wrong.
static inline int CGnuTLS_set_pair(
    gnutls_certificate_credentials_t credentials, const void *certificate, size_t certificate_size, const void *key,
    size_t key_size) {
  gnutls_datum_t certificates = CGnuTLS_datum(certificate, certificate_size);
  gnutls_datum_t keys = CGnuTLS_datum(key, key_size);
  int code = gnutls_certificate_set_x509_key_mem2(
      credentials, &certificates, &keys, GNUTLS_X509_FMT_PEM, NULL, 0);
  return code < 0 ? code : 0;
}

// Gives the credentials authorities in PEM. Returns how many, or what went wrong.
static inline int CGnuTLS_trust(gnutls_certificate_credentials_t credentials, const void *pem, size_t size) {
  gnutls_datum_t datum = CGnuTLS_datum(pem, size);
  return gnutls_certificate_set_x509_trust_mem(credentials, &datum, GNUTLS_X509_FMT_PEM);
}

// Makes a session one of ours: `reader` gets `owner` for each read, what is written goes to the socket, and `hello` and
// `verify` are asked on the way. Returns 0, or what went wrong.
static inline int CGnuTLS_take(
    gnutls_session_t session, gnutls_certificate_credentials_t credentials, gnutls_priority_t priority, int socket,
    void *owner, gnutls_pull_func reader, gnutls_handshake_simple_hook_func hello,
    gnutls_certificate_verify_function *verify, int asks_client, size_t handshake_limit) {
  int code = gnutls_priority_set(session, priority);
  if (code >= 0) code = gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials);
  if (code < 0) return code;
  gnutls_transport_set_ptr2(session, owner, (gnutls_transport_ptr_t)(intptr_t)socket);
  gnutls_transport_set_pull_function(session, reader);
  gnutls_handshake_set_post_client_hello_function(session, hello);
  gnutls_handshake_set_max_packet_length(session, handshake_limit);
  gnutls_session_set_verify_function(session, verify);
  gnutls_certificate_server_set_request(session, asks_client ? GNUTLS_CERT_REQUEST : GNUTLS_CERT_IGNORE);
  return 0;
}

// Whether the client's last message of the handshake has been read.
static inline int CGnuTLS_is_last_read(gnutls_session_t session) {
  return gnutls_handshake_get_last_in(session) == GNUTLS_HANDSHAKE_FINISHED;
}

// The version of TLS that was agreed on: 0x0301 for TLS 1.0 to 0x0304 for TLS 1.3; 0 for another.
static inline int CGnuTLS_version(gnutls_session_t session) {
  switch (gnutls_protocol_get_version(session)) {
    case GNUTLS_TLS1_0: return 0x0301;
    case GNUTLS_TLS1_1: return 0x0302;
    case GNUTLS_TLS1_2: return 0x0303;
    case GNUTLS_TLS1_3: return 0x0304;
    default: return 0;
  }
}

// Tells the client why, as the last thing.
static inline void CGnuTLS_warn(gnutls_session_t session, int alert) {
  (void)gnutls_alert_send(session, GNUTLS_AL_FATAL, (gnutls_alert_description_t)alert);
}

// Whether the client has sent a certificate.
static inline int CGnuTLS_has_certificate(gnutls_session_t session) {
  unsigned int count = 0;
  return gnutls_certificate_get_peers(session, &count) != NULL && count > 0;
}

// Whether the client's certificate leads to a trusted authority, is good for clients and is of today.
static inline int CGnuTLS_is_trusted(gnutls_session_t session) {
  gnutls_typed_vdata_st purpose;
  unsigned int status = 1;
  memset(&purpose, 0, sizeof purpose);
  purpose.type = GNUTLS_DT_KEY_PURPOSE_OID;
  purpose.data = (unsigned char *)(uintptr_t)GNUTLS_KP_TLS_WWW_CLIENT;
  return gnutls_certificate_verify_peers(session, &purpose, 1, &status) == 0 && status == 0;
}

// Calls `each` with every alternative name of the client's certificate until it returns something else than 0, and
// returns that. The kind is 1 for a name or URI in text, 2 for an address in binary.
static inline int CGnuTLS_each_name(
    gnutls_session_t session, int (*each)(void *context, int kind, const char *name, size_t size), void *context) {
  unsigned int count = 0;
  const gnutls_datum_t *peers = gnutls_certificate_get_peers(session, &count);
  gnutls_x509_crt_t certificate;
  int found = 0;
  if (peers == NULL || count == 0 || gnutls_x509_crt_init(&certificate) < 0) return 0;
  if (gnutls_x509_crt_import(certificate, &peers[0], GNUTLS_X509_FMT_DER) >= 0) {
    for (unsigned int index = 0; found == 0; index++) {
      char name[1024];
      size_t size = sizeof name;
      int type = gnutls_x509_crt_get_subject_alt_name(certificate, index, name, &size, NULL);
      if (type == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE) break;
      // One that is too long or malformed is none that could be allowed; a bound keeps a hostile list from being long.
      if (index >= 1000) break;
      if (type < 0) continue;
      if (type == GNUTLS_SAN_DNSNAME || type == GNUTLS_SAN_RFC822NAME || type == GNUTLS_SAN_URI)
        found = each(context, 1, name, size);
      else if (type == GNUTLS_SAN_IPADDRESS)
        found = each(context, 2, name, size);
    }
  }
  gnutls_x509_crt_deinit(certificate);
  return found;
}

// The HMAC of the bytes with SHA-256, 32 bytes. Returns 0, or what went wrong.
static inline int CGnuTLS_hmac(
    const void *key, size_t key_size, const void *bytes, size_t size, void *digest) {
  return gnutls_hmac_fast(GNUTLS_MAC_SHA256, key, key_size, bytes, size, digest);
}

#endif
