// What an event of the log is posted under, and when.
#pragma once

#include <cstdint>
#include <vector>

#include "gyre/nostr/packed_event.h"
#include "gyre/storage/term.h"

namespace gyre::storage {

struct EventPosting {
  Term term;
  std::uint64_t time;
};

// Of an event that is stored here (RecordType::kEvent), by the flags of its row (RowFlags). A dead
// one has lost what readers look for; its address stays unless a newer version holds it, and
// tombstones stay for ever (DeathQueue).
void append_event_postings(const TermHasher& hasher, nostr::PackedEventView event,
                           std::uint16_t row_flags, std::vector<EventPosting>& out);
// Of a request that is stored elsewhere (RecordType::kForeignRequest): its tombstones.
void append_request_postings(const TermHasher& hasher, nostr::PackedEventView request,
                             std::vector<EventPosting>& out);

}  // namespace gyre::storage
