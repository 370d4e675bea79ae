#ifndef REACHD_CIDN2_H
#define REACHD_CIDN2_H

#include <idn2.h>

// libidn2 declares its numbers as enumerators and returns plain ints; as constants of type int they compare in Swift.
// The names of this header begin with CIDN2_.

static const int CIDN2_ok = IDN2_OK;
static const int CIDN2_too_big_label = IDN2_TOO_BIG_LABEL;
static const int CIDN2_big_output = IDN2_PUNYCODE_BIG_OUTPUT;
static const int CIDN2_too_big_domain = IDN2_TOO_BIG_DOMAIN;
static const int CIDN2_invalid_alabel = IDN2_INVALID_ALABEL;
static const int CIDN2_alabel_roundtrip = IDN2_ALABEL_ROUNDTRIP_FAILED;
static const int CIDN2_punycode = IDN2_PUNYCODE_BAD_INPUT;
static const int CIDN2_lookup_flags = IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL;

#endif
