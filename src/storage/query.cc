#include "gyre/storage/query.h"

#include "storage/record.h"

namespace gyre::storage {

nostr::PackedEventView read_event(const QuerySources& sources, const DirectoryRow& row) {
  const auto payload = sources.log.read_checked(row.position);
  if (!payload) return {};
  const nostr::PackedEventView event = event_of_record(*payload);
  if (event.is_null()) sources.log.report_damage(row.position);
  return event;
}

}  // namespace gyre::storage
