#include "storage/fatal_storage_error.h"

#include <cstdlib>

#include "gyre/base/log.h"

namespace gyre::storage {

void fatal_storage_error(const absl::Status& error) {
  const auto message = error.message();
  log_line(LogLevel::kError,
           "the event log could not be written, so nothing more can be acknowledged; "
           "check the disk and start again: %.*s",
           static_cast<int>(message.size()), message.data());
  // Not exit(): destructors would wait for the writer and try to write more.
  std::_Exit(EXIT_FAILURE);
}

}  // namespace gyre::storage
