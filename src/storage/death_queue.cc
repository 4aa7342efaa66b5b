#include "storage/death_queue.h"

#include "storage/author_rules.h"
#include "storage/record.h"

namespace gyre::storage {
namespace {

// A disk may refuse once and give the next time.
constexpr int kTries = 8;

}  // namespace

void DeathQueue::work(std::size_t budget, const ReadEvent& read) {
  for (; budget > 0 && !items_.empty(); --budget) {
    const Item item = items_.front();
    if (item.superseded) {
      post_superseded(item.sequence, *item.superseded);
      items_.pop_front();
      continue;
    }
    const DirectoryRow row = directory_.row(item.sequence);
    nostr::PackedEventView event;
    if (!read(row.position, event)) return;
    if (event.is_null() && ++failures_ < kTries) return;
    failures_ = 0;
    if (event.is_null()) {
      const Posting unburied{hasher_.unburied(), row.created_at, row.id_prefix, item.sequence};
      dead_postings_.add(unburied);
    } else {
      post(item, row, event);
    }
    items_.pop_front();
  }
}

void DeathQueue::post_superseded(Sequence sequence, Term address) {
  const DirectoryRow row = directory_.row(sequence);
  if (has_dead_posting(address, row, sequence)) return;
  directory_.mark_superseded(sequence);
  dead_postings_.add({address, row.created_at, row.id_prefix, sequence});
}

// The row's flag does not say: after a crash the directory's file may be ahead of the postings.
bool DeathQueue::has_dead_posting(Term term, const DirectoryRow& row, Sequence sequence) const {
  PostingCursor cursor = dead_postings_.find({term, row.created_at, row.created_at});
  while (!cursor.is_at_end() && cursor.sequence() != sequence) cursor.advance();
  return !cursor.is_at_end();
}

// The query terms and the expiry, each as it was posted. The address only if a newer version holds
// it now: any other dead version goes on refusing older ones. Tombstones stay for ever.
void DeathQueue::post(const Item& item, const DirectoryRow& row, nostr::PackedEventView event) {
  terms_.clear();
  append_query_terms(hasher_, event, terms_);
  if (item.cause == DeathCause::kSuperseded) {
    if (const auto address = address_of(event, event.pubkey())) {
      terms_.push_back(hasher_.address(address->kind, address->pubkey, address->d));
    }
  }
  postings_.clear();
  for (const Term term : terms_) {
    postings_.push_back({term, row.created_at, row.id_prefix, item.sequence});
  }
  if (const auto expiration = event.expiration()) {
    postings_.push_back({hasher_.expiry(), *expiration, row.id_prefix, item.sequence});
  }
  dead_postings_.add(postings_);
}

}  // namespace gyre::storage
