#include "expectations.h"

#include <algorithm>
#include <utility>

namespace gyre::store_bench {
namespace {

constexpr std::uint16_t kNote = 1;
constexpr std::uint16_t kReaction = 7;
// More than the newest hundred, so that those of one second can be put in order.
constexpr std::size_t kRecent = 4 * Watch::kNewest;
constexpr std::size_t kSamples = 4096;

nostr::Filter of_kinds(std::vector<std::uint16_t> kinds) {
  nostr::Filter filter;
  filter.kinds = std::move(kinds);
  return filter;
}

nostr::Filter of_author(const Bytes32& author, std::vector<std::uint16_t> kinds) {
  nostr::Filter filter = of_kinds(std::move(kinds));
  filter.authors = {author};
  return filter;
}

nostr::Filter of_recipient(const Bytes32& author, std::vector<std::uint16_t> kinds) {
  nostr::Filter filter = of_kinds(std::move(kinds));
  filter.tags.push_back({'p', {to_hex(author.bytes)}});
  return filter;
}

}  // namespace

void Watch::note(nostr::PackedEventView event, std::int64_t alive_change) {
  if (!filter_.matches(event)) return;
  count_ += alive_change;
  recent_.push_back({event.created_at(), event.id()});
  if (recent_.size() > kRecent) recent_.pop_front();
}

std::vector<Bytes32> Watch::newest() const {
  std::vector<Entry> entries(recent_.begin(), recent_.end());
  std::sort(entries.begin(), entries.end(), [](const Entry& left, const Entry& right) {
    if (left.created_at != right.created_at) return left.created_at > right.created_at;
    return left.id < right.id;
  });
  std::vector<Bytes32> ids;
  for (std::size_t i = 0; i < std::min(entries.size(), kNewest); ++i) ids.push_back(entries[i].id);
  return ids;
}

Expectations::Expectations(const Bytes32& busy_author) {
  pages_.emplace_back("kind", of_kinds({kNote}));
  pages_.emplace_back("author", of_author(busy_author, {kNote}));
  pages_.emplace_back("tag", of_recipient(busy_author, {kReaction}));
  counts_.emplace_back("all", nostr::Filter());
  counts_.emplace_back("kind", of_kinds({kNote}));
  counts_.emplace_back("two_kinds", of_kinds({kNote, kReaction}));
  counts_.emplace_back("author", of_author(busy_author, {}));
  counts_.emplace_back("tag", of_recipient(busy_author, {kReaction}));
}

void Expectations::note(nostr::PackedEventView event, std::int64_t alive_change) {
  for (Watch& watch : pages_) watch.note(event, alive_change);
  for (Watch& watch : counts_) watch.note(event, alive_change);
  if (noted_ == 0) first_created_at_ = event.created_at();
  last_created_at_ = event.created_at();
  ++noted_;
  if (event.kind() != kNote) return;
  // Each event is kept with the same chance as all before it (reservoir).
  if (sample_ids_.size() < kSamples) {
    sample_ids_.push_back(event.id());
  } else if (const std::uint64_t place = noted_ * 0x9e3779b97f4a7c15 % noted_; place < kSamples) {
    sample_ids_[place] = event.id();
  }
}

}  // namespace gyre::store_bench
