#include "storage/corruption.h"

#include <cstdlib>

#include "gyre/base/log.h"

namespace gyre::storage {

void stop_for_corruption(std::string_view path, std::string_view damage) {
  log_line(LogLevel::kError, "%.*s: %.*s; stopped rather than serve wrong answers: %s",
           static_cast<int>(path.size()), path.data(), static_cast<int>(damage.size()),
           damage.data(), kRebuildCure);
  // Not exit(): destructors would wait for worker threads, and nothing is left to be saved.
  std::_Exit(EXIT_FAILURE);
}

}  // namespace gyre::storage
