#include "failure.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace gyre::load {

void fail(std::string_view message) {
  std::fprintf(stderr, "gyre-load: %.*s\n", static_cast<int>(message.size()), message.data());
  std::exit(1);
}

void fail_errno(std::string_view message) {
  fail(std::string(message) + ": " + std::strerror(errno));
}

}  // namespace gyre::load
