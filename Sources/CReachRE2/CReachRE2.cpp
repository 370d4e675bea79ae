#include "CReachRE2.h"

#include <re2/re2.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <vector>

struct CReachRE2_Expression {
  RE2 expression;
  CReachRE2_Expression(const re2::StringPiece &pattern, const RE2::Options &options) : expression(pattern, options) {}
};

static void explain(char *error, size_t size, const char *text) {
  if (size == 0) return;
  size_t length = std::min(size - 1, std::strlen(text));
  std::memcpy(error, text, length);
  error[length] = 0;
}

CReachRE2_Expression *CReachRE2_compile(const char *pattern, size_t length, char *error, size_t error_size) {
  try {
    RE2::Options options;
    // Without this it would write to standard error.
    options.set_log_errors(false);
    options.set_max_mem(2 << 20);
    auto *compiled = new CReachRE2_Expression(re2::StringPiece(pattern, length), options);
    if (compiled->expression.ok()) return compiled;
    explain(error, error_size, compiled->expression.error().c_str());
    delete compiled;
  } catch (...) {
    explain(error, error_size, "out of memory");
  }
  return nullptr;
}

int CReachRE2_groups(const CReachRE2_Expression *expression) { return expression->expression.NumberOfCapturingGroups(); }

int CReachRE2_group(const CReachRE2_Expression *expression, const char *name, size_t length) {
  try {
    const auto &names = expression->expression.NamedCapturingGroups();
    auto found = names.find(std::string(name, length));
    return found == names.end() ? -1 : found->second;
  } catch (...) {
    return -1;
  }
}

int CReachRE2_match(
    const CReachRE2_Expression *expression, const uint8_t *text, size_t length, ptrdiff_t *ranges, int count) {
  try {
    std::vector<re2::StringPiece> parts(std::max(0, count));
    const char *start = length == 0 ? "" : reinterpret_cast<const char *>(text);
    re2::StringPiece whole(start, length);
    if (!expression->expression.Match(whole, 0, length, RE2::UNANCHORED, parts.data(), count)) return 0;
    for (int index = 0; index < count; index++) {
      const auto &part = parts[index];
      bool took_part = part.data() != nullptr;
      ranges[2 * index] = took_part ? part.data() - start : -1;
      ranges[2 * index + 1] = took_part ? part.data() - start + static_cast<ptrdiff_t>(part.size()) : -1;
    }
    return 1;
  } catch (...) {
    return 0;
  }
}

void CReachRE2_free(CReachRE2_Expression *expression) { delete expression; }
