#include "storage/event_postings.h"

#include "gyre/storage/directory.h"
#include "storage/author_rules.h"

namespace gyre::storage {

void append_event_postings(const TermHasher& hasher, nostr::PackedEventView event,
                           std::uint16_t row_flags, std::vector<EventPosting>& out) {
  const std::uint64_t created_at = event.created_at();
  TermList terms;
  const bool is_alive = (row_flags & kRowDead) == 0;
  if (is_alive) append_query_terms(hasher, event, terms);
  if ((row_flags & kRowSuperseded) == 0) {
    if (const auto address = address_of(event, event.pubkey())) {
      terms.push_back(hasher.address(address->kind, address->pubkey, address->d));
    }
  }
  for (const Term term : terms) out.push_back({term, created_at});
  const auto expiration = event.expiration();
  if (is_alive && expiration) out.push_back({hasher.expiry(), *expiration});
  append_request_postings(hasher, event, out);
}

void append_request_postings(const TermHasher& hasher, nostr::PackedEventView request,
                             std::vector<EventPosting>& out) {
  TermList terms;
  append_tombstones(hasher, request, terms);
  for (const Term term : terms) out.push_back({term, request.created_at()});
}

}  // namespace gyre::storage
