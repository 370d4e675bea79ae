// zlib as Swift can call it: its deflateInit2 is a macro that the importer drops. Every symbol of ours carries the prefix
// CZlib_.
#ifndef CZLIB_H
#define CZLIB_H

#include <zlib.h>

// Begins a stream in the gzip format (RFC 1952). `window` and `memory` are zlib's windowBits, 9 to 15, and memLevel, 1 to
// 9. Returns Z_OK, or what went wrong.
static inline int CZlib_begin_gzip(z_stream *stream, int level, int window, int memory) {
  return deflateInit2(stream, level, Z_DEFLATED, window + 16, memory, Z_DEFAULT_STRATEGY);
}

// Begins to read a stream in the gzip format. Returns Z_OK, or what went wrong.
static inline int CZlib_begin_gunzip(z_stream *stream) { return inflateInit2(stream, 15 + 16); }

#endif
