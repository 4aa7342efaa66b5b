#include "storage/log_damage.h"

#include <system_error>

#include "gyre/base/log.h"
#include "storage/corruption.h"
#include "storage/log_segment.h"

namespace gyre::storage {

void LogDamageReports::report_damage(LogPosition position) {
  if (damaged_.size() == kReportedMax || !damaged_.insert(position.value).second) return;
  ++damage_.records;
  GYRE_LOG(kError,
           "%s/%s is damaged at offset %u: the record there fails its checksum, and its event is "
           "left out of all answers; %s",
           directory_.c_str(), segment_name(position.segment()).c_str(), position.offset(),
           kSalvageCure);
  if (damaged_.size() == kReportedMax) {
    GYRE_LOG(kError, "%s: this was damaged record %zu; further ones are not reported",
             directory_.c_str(), kReportedMax);
  }
}

void LogDamageReports::report_unreadable(LogPosition position, int error) {
  ++damage_.failed_reads;
  if (!unreadable_.insert(position.segment()).second) return;
  GYRE_LOG(kError,
           "%s/%s cannot be read at offset %u: %s; events there are left out of all answers. Check "
           "the disk (dmesg, smartctl); then %s; further failures in this file are only counted",
           directory_.c_str(), segment_name(position.segment()).c_str(), position.offset(),
           std::generic_category().message(error).c_str(), kSalvageCure);
}

}  // namespace gyre::storage
