// The end of a process whose disk has failed it.
#pragma once

#include "absl/status/status.h"

namespace gyre::storage {

// Logs what failed and ends the process with exit code 1, without running destructors.
//
// After a failed write or sync the kernel may have dropped the pages and marked them clean: trying
// again can succeed without the data. Nothing that is not durable may be acknowledged any more, so
// the process ends, and the next start finds out what the disk really holds.
[[noreturn]] void fatal_storage_error(const absl::Status& error);

}  // namespace gyre::storage
