#include "support/naive_store.h"

#include <algorithm>
#include <utility>

namespace gyre::test {

using storage::Sequence;

Sequence NaiveStore::add(std::vector<std::uint8_t> packed_event) {
  events_.push_back({std::move(packed_event)});
  return next_sequence() - 1;
}

std::vector<Sequence> NaiveStore::query(std::span<const nostr::Filter> filters,
                                        const storage::ScanLimits& limits,
                                        const storage::ReadAccess& access, std::int64_t now_s,
                                        Sequence snapshot) const {
  std::vector<Sequence> all;
  for (std::size_t i = 0; i < filters.size(); ++i) {
    std::vector<Sequence> found;
    for (Sequence sequence = 0; sequence < snapshot; ++sequence) {
      if (is_served(sequence, access, now_s) && filters[i].matches(event(sequence))) {
        found.push_back(sequence);
      }
    }
    sort(found);
    found.resize(std::min<std::size_t>(found.size(), limits.filter_limits[i].count()));
    all.insert(all.end(), found.begin(), found.end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  sort(all);
  all.resize(std::min<std::size_t>(all.size(), limits.total_limit.count()));
  return all;
}

bool NaiveStore::is_served(Sequence sequence, const storage::ReadAccess& access,
                           std::int64_t now_s) const {
  if (is_dead(sequence)) return false;
  const auto expiration = event(sequence).expiration();
  if (expiration && now_s >= 0 && *expiration <= static_cast<std::uint64_t>(now_s)) return false;
  return access.may_read(event(sequence));
}

void NaiveStore::sort(std::vector<Sequence>& sequences) const {
  std::sort(sequences.begin(), sequences.end(), [this](Sequence left, Sequence right) {
    if (event(left).created_at() != event(right).created_at()) {
      return event(left).created_at() > event(right).created_at();
    }
    return event(left).id() < event(right).id();
  });
}

}  // namespace gyre::test
