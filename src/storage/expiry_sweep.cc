#include "storage/expiry_sweep.h"

#include <algorithm>

namespace gyre::storage {

bool ExpirySweep::step(std::int64_t now_s, std::size_t budget, std::vector<Sequence>& out) {
  if (!place_) {
    if (now_s <= swept_until_s_) return false;
    until_s_ = now_s;
  }
  const PostingRange range{expiry_, static_cast<std::uint64_t>(swept_until_s_ + 1),
                           static_cast<std::uint64_t>(until_s_)};
  PostingCursor cursor = place_ ? postings_.find_behind(range, *place_) : postings_.find(range);
  for (; !cursor.is_at_end() && budget > 0; cursor.advance(), --budget) {
    const Sequence sequence = cursor.sequence();
    place_ = PostingPlace{cursor.created_at(), cursor.id_prefix(), sequence};
    if (!directory_.is_dead(sequence)) out.push_back(sequence);
  }
  if (!cursor.is_at_end()) return true;
  place_.reset();
  swept_until_s_ = until_s_;
  return false;
}

void ExpirySweep::note_expiration(std::int64_t expiration_s) {
  if (expiration_s > std::max(swept_until_s_, until_s_)) return;
  place_.reset();
  swept_until_s_ = std::min(swept_until_s_, expiration_s - 1);
  until_s_ = swept_until_s_;
}

}  // namespace gyre::storage
