#include "storage/retention_sweep.h"

#include <algorithm>

#include "gyre/nostr/kind.h"

namespace gyre::storage {

bool RetentionPolicy::is_exempt(std::uint16_t kind) {
  return kind == nostr::kKindDeletion || kind == nostr::kKindVanish;
}

std::uint64_t RetentionPolicy::max_age_of(std::uint16_t kind) const {
  if (is_exempt(kind)) return 0;
  for (const KindAge& entry : kinds) {
    if (entry.first <= kind && kind <= entry.last) return entry.max_age_s;
  }
  return max_age_s;
}

namespace {

constexpr double kSizeWanted = 0.9;  // Of the limit, when it has been exceeded.

// Events created before this have reached the age.
std::uint64_t end_of_age(std::uint64_t max_age_s, std::uint64_t now_s) {
  return max_age_s == 0 || max_age_s > now_s ? 0 : now_s - max_age_s;
}

}  // namespace

bool RetentionSweep::step(const RetentionPolicy& policy, std::int64_t now_s, std::size_t budget,
                          std::vector<Sequence>& out) {
  adopt(policy);
  if (!lane_) begin(now_s);
  while (*lane_ < lanes_.size() && sweep_lane(budget, out)) {
    ++*lane_;
    kind_ = 0;
  }
  // Two lanes may have found the same event.
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  if (*lane_ < lanes_.size()) return true;
  finish();
  return false;
}

// Another policy finds other events among those that have been looked at.
void RetentionSweep::adopt(const RetentionPolicy& policy) {
  if (policy == policy_) return;
  policy_ = policy;
  lanes_.assign(policy.kinds.size() + 1, {});
  lane_.reset();
  floor_ = 0;
}

void RetentionSweep::limit_size(const RetentionPolicy& policy, double bytes,
                                std::uint64_t events_alive, std::int64_t now_s,
                                const CountSources& sources) {
  adopt(policy);
  const auto bytes_max = static_cast<double>(policy.max_bytes);
  if (events_alive == 0 || bytes <= bytes_max) return;
  const double excess =
      (bytes - kSizeWanted * bytes_max) / bytes * static_cast<double>(events_alive);
  const std::uint64_t time = time_of_oldest(static_cast<std::uint64_t>(excess), now_s, sources);
  floor_ = std::max(floor_, time + 1);
}

void RetentionSweep::begin(std::int64_t now_s) {
  now_s_ = now_s > 0 ? static_cast<std::uint64_t>(now_s) : 0;
  lanes_[0].end = std::max(floor_, end_of_age(policy_.max_age_s, now_s_));
  for (std::size_t i = 0; i < policy_.kinds.size(); ++i) {
    lanes_[i + 1].end = end_of_age(policy_.kinds[i].max_age_s, now_s_);
  }
  for (Lane& lane : lanes_) lane.swept_end = std::min(lane.swept_end, lowest_stored_);
  lowest_stored_ = UINT64_MAX;
  lane_ = 0;
  kind_ = 0;
  place_.reset();
}

void RetentionSweep::finish() {
  for (Lane& lane : lanes_) lane.swept_end = std::max(lane.swept_end, lane.end);
  lane_.reset();
}

// True when the lane has been swept to its end.
bool RetentionSweep::sweep_lane(std::size_t& budget, std::vector<Sequence>& out) {
  if (*lane_ == 0) return sweep_term(hasher_.all(), budget, out);
  const RetentionPolicy::KindAge& entry = policy_.kinds[*lane_ - 1];
  if (lanes_[*lane_].end == 0) return true;
  if (kind_ == 0) kind_ = entry.first;
  for (; kind_ <= entry.last; ++kind_) {
    if (!sweep_term(hasher_.kind(static_cast<std::uint16_t>(kind_)), budget, out)) return false;
  }
  return true;
}

bool RetentionSweep::sweep_term(Term term, std::size_t& budget, std::vector<Sequence>& out) {
  const Lane& lane = lanes_[*lane_];
  if (lane.end <= lane.swept_end) return true;
  if (budget == 0) return false;
  const PostingRange range{term, lane.swept_end, lane.end - 1};
  PostingCursor cursor = place_ ? postings_.find_behind(range, *place_) : postings_.find(range);
  for (; !cursor.is_at_end(); cursor.advance(), --budget) {
    if (budget == 0) return false;
    const Sequence sequence = cursor.sequence();
    place_ = PostingPlace{cursor.created_at(), cursor.id_prefix(), sequence};
    if (has_to_go(directory_.row(sequence))) out.push_back(sequence);
  }
  place_.reset();
  if (budget > 0) --budget;  // A look-up costs, too, where kinds are many and events few.
  return true;
}

// By its row, for a lane of all events meets kinds with ages of their own, and a kind may stand in
// two entries.
bool RetentionSweep::has_to_go(const DirectoryRow& row) const {
  if ((row.flags & kRowDead) != 0 || RetentionPolicy::is_exempt(row.kind)) return false;
  return row.created_at < floor_ ||
         row.created_at < end_of_age(policy_.max_age_of(row.kind), now_s_);
}

double living_bytes_of_index(const PostingIndex& postings, const PostingIndex& dead_postings) {
  const auto count = [](const PostingIndex& index) {
    return static_cast<double>(index.table_posting_count() + index.run_posting_count());
  };
  const double posted = count(postings);
  const double dead = count(dead_postings);
  const auto bytes = static_cast<double>(postings.bytes_on_disk() + dead_postings.bytes_on_disk());
  return posted <= dead ? 0 : bytes * (posted - dead) / (posted + dead);
}

std::uint64_t time_of_oldest(std::uint64_t count, std::int64_t now_s, const CountSources& sources) {
  const auto alive_until = [&sources](std::uint64_t time) {
    std::uint64_t alive = count_alive({sources.hasher.all(), 0, time}, sources);
    for (const std::uint16_t kind : {nostr::kKindDeletion, nostr::kKindVanish}) {
      alive -= count_alive({sources.hasher.kind(kind), 0, time}, sources);
    }
    return alive;
  };
  std::uint64_t low = 0;
  std::uint64_t high = now_s > 0 ? static_cast<std::uint64_t>(now_s) : 0;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (alive_until(middle) < count) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace gyre::storage
