#include "gyre/storage/query.h"

#include "storage/record.h"

namespace gyre::storage {

nostr::PackedEventView read_event(const QuerySources& sources, Sequence sequence) {
  return event_of_record(sources.log.read(sources.directory.row(sequence).position));
}

}  // namespace gyre::storage
