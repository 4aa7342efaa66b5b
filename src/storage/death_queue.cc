#include "storage/death_queue.h"

#include "storage/author_rules.h"
#include "storage/record.h"

namespace gyre::storage {
namespace {

// A disk may refuse once and give the next time.
constexpr int kTries = 8;

}  // namespace

void DeathQueue::work(std::size_t budget, const ReadEvent& read) {
  for (; budget > 0 && !sequences_.empty(); --budget) {
    const Sequence sequence = sequences_.front();
    const DirectoryRow row = directory_.row(sequence);
    nostr::PackedEventView event;
    if (!read(row.position, event)) return;
    if (event.is_null() && ++failures_ < kTries) return;
    failures_ = 0;
    if (event.is_null()) {
      const Posting unburied{hasher_.unburied(), row.created_at, row.id_prefix, sequence};
      dead_postings_.add(unburied);
    } else {
      post(sequence, row, event);
    }
    sequences_.pop_front();
  }
}

// The query terms and the expiry, each as it was posted. The address only if a newer version holds
// it now: any other dead version goes on refusing older ones. Tombstones stay for ever.
void DeathQueue::post(Sequence sequence, const DirectoryRow& row, nostr::PackedEventView event) {
  terms_.clear();
  append_query_terms(hasher_, event, terms_);
  if ((row.flags & kRowSuperseded) != 0) {
    if (const auto address = address_of(event, event.pubkey())) {
      terms_.push_back(hasher_.address(address->kind, address->pubkey, address->d));
    }
  }
  postings_.clear();
  for (const Term term : terms_) {
    postings_.push_back({term, row.created_at, row.id_prefix, sequence});
  }
  if (const auto expiration = event.expiration()) {
    postings_.push_back({hasher_.expiry(), *expiration, row.id_prefix, sequence});
  }
  dead_postings_.add(postings_);
}

}  // namespace gyre::storage
