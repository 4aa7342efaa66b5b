#include "storage/death_queue.h"

#include "storage/author_rules.h"
#include "storage/record.h"

namespace gyre::storage {

void DeathQueue::work(std::size_t budget, const ReadRecord& read) {
  for (; budget > 0 && !sequences_.empty(); --budget) {
    post(sequences_.front(), read);
    sequences_.pop_front();
  }
}

// The query terms and the expiry, each as it was posted. The address only if a newer version holds
// it now: any other dead version goes on refusing older ones. Tombstones stay for ever.
void DeathQueue::post(Sequence sequence, const ReadRecord& read) {
  const DirectoryRow row = directory_.row(sequence);
  const nostr::PackedEventView event = event_of_record(read(row.position));
  terms_.clear();
  append_query_terms(hasher_, event, terms_);
  if ((row.flags & kRowSuperseded) != 0) {
    if (const auto address = address_of(event, event.pubkey())) {
      terms_.push_back(hasher_.address(address->kind, address->pubkey, address->d));
    }
  }
  for (const Term term : terms_) {
    dead_postings_.add({term, row.created_at, row.id_prefix, sequence});
  }
  if (const auto expiration = event.expiration()) {
    dead_postings_.add({hasher_.expiry(), *expiration, row.id_prefix, sequence});
  }
}

}  // namespace gyre::storage
