#ifndef CREACHTLSCLIENT_H
#define CREACHTLSCLIENT_H

#include <stddef.h>
#include <stdint.h>

// A TLS client over a connected nonblocking socket, by GnuTLS. Nothing here blocks but the reading of files.

/// What a client trusts, and what it is known by.
typedef struct CReachTLS_Credentials CReachTLS_Credentials;
/// One connection.
typedef struct CReachTLS_Session CReachTLS_Session;

/// What a call came to that returns no number of bytes.
enum {
  CReachTLS_done = 0,
  CReachTLS_wants_read = -1,
  CReachTLS_wants_write = -2,
  CReachTLS_failed = -3,
};

/// What is known of a peer after the handshake.
typedef struct CReachTLS_Peer CReachTLS_Peer;

/// The texts that are known of a peer's own certificate, cut where they are very long.
enum {
  CReachTLS_fingerprint = 0,
  CReachTLS_serial = 1,
  CReachTLS_subject = 2,
  CReachTLS_issuer = 3,
  CReachTLS_names = 4,
};

/// Reads the files that are given; without `authorities` the system's are trusted, by an empty text nobody. Returns NULL and
/// writes why.
CReachTLS_Credentials *CReachTLS_load(
    const char *authorities, const char *certificate, const char *key, char *error, size_t error_size);
void CReachTLS_unload(CReachTLS_Credentials *credentials);

/// Begins a session over the socket, which stays the caller's; the credentials must outlive it. `name` is sent, unless it
/// is an address, and verified, unless `verifies` is 0. Returns NULL and writes why.
CReachTLS_Session *CReachTLS_begin(
    CReachTLS_Credentials *credentials, int socket, const char *name, int verifies, const char *priority, char *error,
    size_t error_size);
/// Tells the peer that nothing more will be sent (close_notify), if that can be done at once. The socket must be open.
void CReachTLS_bye(CReachTLS_Session *session);
/// Ends a session without touching the socket, which may be closed by now.
void CReachTLS_end(CReachTLS_Session *session);

/// Goes on with the handshake.
int CReachTLS_handshake(CReachTLS_Session *session);
/// Receives bytes; 0 at the end of the stream.
ptrdiff_t CReachTLS_read(CReachTLS_Session *session, uint8_t *bytes, size_t count);
/// Sends bytes. After `wants`, the same bytes must be given again.
ptrdiff_t CReachTLS_write(CReachTLS_Session *session, const uint8_t *bytes, size_t count);
/// Writes what the last failure was.
void CReachTLS_explain(CReachTLS_Session *session, char *error, size_t error_size);
/// Whether the last failure was an alert of the peer's.
int CReachTLS_is_refused(const CReachTLS_Session *session);
/// Finds out what is known of the peer. Returns NULL when it has sent no certificate, or there is no memory.
CReachTLS_Peer *CReachTLS_describe(CReachTLS_Session *session);
void CReachTLS_forget(CReachTLS_Peer *peer);

/// 0x0301 for TLS 1.0 up to 0x0304 for TLS 1.3; 0 for any other.
int CReachTLS_version(const CReachTLS_Peer *peer);
/// When the first of the certificates that were sent expires, in seconds since 1970.
int64_t CReachTLS_earliest_expiry(const CReachTLS_Peer *peer);
/// When the first certificate of the verified chain expires; `otherwise` when none was verified.
int64_t CReachTLS_chain_expiry(const CReachTLS_Peer *peer, int64_t otherwise);
/// One of the texts; valid as long as the peer is.
const char *CReachTLS_text(const CReachTLS_Peer *peer, int which);

#endif
