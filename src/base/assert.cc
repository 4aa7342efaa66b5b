#include "gyre/base/assert.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

namespace gyre::internal {

void assert_failed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
  std::abort();
}

void assert_compare_failed(const char* file, int line, const char* condition, std::int64_t left,
                           std::int64_t right) {
  std::fprintf(stderr, "%s:%d: assertion failed: %s (%" PRId64 " against %" PRId64 ")\n", file,
               line, condition, left, right);
  std::abort();
}

}  // namespace gyre::internal
