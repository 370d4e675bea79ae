#ifndef CREACHRE2_H
#define CREACHRE2_H

#include <stddef.h>
#include <stdint.h>

// RE2 for Swift: C names for the few calls that are needed. No exception leaves these functions.

#ifdef __cplusplus
extern "C" {
#endif

/// A compiled expression. Reading it is safe from any thread.
typedef struct CReachRE2_Expression CReachRE2_Expression;

/// Compiles a pattern in UTF-8. Returns NULL and writes why, cut and with a 0 at its end, when it is none.
CReachRE2_Expression *CReachRE2_compile(const char *pattern, size_t length, char *error, size_t error_size);

/// How many groups the pattern has, the whole match not among them.
int CReachRE2_groups(const CReachRE2_Expression *expression);

/// The number of the group of that name; -1 when there is none.
int CReachRE2_group(const CReachRE2_Expression *expression, const char *name, size_t length);

/// Looks for the first match in the text. Returns 1 and writes where it and its groups lie, start and end in turn and -1
/// for a group that has no part in it, for as many as `count`; 0 when there is none.
int CReachRE2_match(
    const CReachRE2_Expression *expression, const uint8_t *text, size_t length, ptrdiff_t *ranges, int count);

/// Ends an expression.
void CReachRE2_free(CReachRE2_Expression *expression);

#ifdef __cplusplus
}
#endif

#endif
