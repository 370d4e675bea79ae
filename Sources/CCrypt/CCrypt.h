// crypt(3) as Swift can call it. Every symbol of ours carries the prefix CCrypt_.
#ifndef CCRYPT_H
#define CCRYPT_H

#include <crypt.h>
#include <stdlib.h>
#include <string.h>

// Whether the password comes to the hash: 1 or 0, or -1 when that cannot be told for want of memory, or since the hash is
// of a kind that the system's library does not know. Takes as long as the hash asks for; the comparison tells nothing by
// the time it takes. What the computation leaves in memory is wiped.
static inline int CCrypt_matches(const char *password, const char *hash) {
  struct crypt_data *data = (struct crypt_data *)calloc(1, sizeof *data);
  if (data == NULL) return -1;
  int result = -1;
  const char *found = crypt_r(password, hash, data);
  if (found != NULL && found[0] != '*') {
    size_t size = strlen(hash);
    // The length is no secret: it is that of every bcrypt hash.
    unsigned char difference = strlen(found) != size;
    if (!difference)
      for (size_t place = 0; place < size; place++) difference |= (unsigned char)(found[place] ^ hash[place]);
    result = difference == 0;
  }
  explicit_bzero(data, sizeof *data);
  free(data);
  return result;
}

#endif
