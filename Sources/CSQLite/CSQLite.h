// SQLite as Swift can call it: the destructor that means "copy this" is a macro with a cast, which the importer drops.
// Every symbol of ours carries the prefix CSQLite_.
#ifndef REACHD_CSQLITE_H
#define REACHD_CSQLITE_H

#include <sqlite3.h>

// Binds a copy of `count` bytes of UTF-8.
static inline int CSQLite_bind_text(sqlite3_stmt *statement, int index, const char *text, int count) {
  return sqlite3_bind_text(statement, index, text, count, SQLITE_TRANSIENT);
}

#endif
