#include <algorithm>
#include <optional>
#include <utility>

#include "gyre/base/assert.h"
#include "gyre/storage/query.h"
#include "storage/posting_merge.h"
#include "storage/record.h"
#include "storage/scan_filter.h"

namespace gyre::storage {
namespace {

// What planning a filter costs in candidates: up to a hundred estimates.
constexpr std::uint64_t kPlanCost = 32;

void spend(std::uint64_t& budget, std::uint64_t cost) { budget -= std::min(budget, cost); }

}  // namespace

// All filters share one merge, so every place in the stream is a place in all of them, and one
// place is enough to go on from: whatever changes in the index, everything up to `place` has been
// looked at, and nothing behind it.
struct Scan::Impl {
  Impl(const QuerySources& from, std::span<const nostr::Filter> wanted, ScanLimits limits,
       const ReadAccess& reader, std::int64_t now);

  // Opens what is not open yet; false if the budget ended first.
  [[nodiscard]] bool open_terms(std::uint64_t& budget);
  void open_next_term(std::size_t number);
  void reopen_if_changed();
  void close_sources_of(std::size_t number);
  // Takes the sources of filters that are done off the top.
  void drop_done();

  // Takes the next candidate off the merge; fills `due` with the filters it may belong to.
  [[nodiscard]] DirectoryRow take_candidate(Sequence& sequence);
  void end_trials();
  // The event, if it is to be served; counts it for its filters.
  [[nodiscard]] bool evaluate(const DirectoryRow& row, Sequence sequence,
                              nostr::PackedEventView& event);
  [[nodiscard]] bool admit_in_total(std::uint64_t created_at);
  [[nodiscard]] bool has_expired(const DirectoryRow& row, nostr::PackedEventView event) const;

  static constexpr std::uint32_t kClosed = UINT32_MAX;

  const QuerySources sources;
  const ReadAccess& access;
  const std::int64_t now_s;
  const Sequence snapshot;

  std::vector<ScanFilter> filters;
  std::size_t unopened = 0;  // Filters before this have all their terms open.
  ResultLimit total_limit;
  const ScanLimits::Beyond beyond;
  PostingMerge merge;
  std::vector<std::uint32_t> filter_of_source;  // Or kClosed.
  std::uint64_t version;                        // Of the index the sources are from.
  std::optional<PostingPlace> place;            // The last candidate's.
  std::vector<std::uint32_t> due;
  std::uint64_t candidates = 0;
  bool is_finished = false;
};

Scan::Scan(const QuerySources& sources, std::span<const nostr::Filter> filters, ScanLimits limits,
           const ReadAccess& access, std::int64_t now_s)
    : impl_(std::make_unique<Impl>(sources, filters, std::move(limits), access, now_s)) {}
Scan::Scan(Scan&&) noexcept = default;
Scan& Scan::operator=(Scan&&) noexcept = default;
Scan::~Scan() = default;

std::uint64_t Scan::candidates() const { return impl_->candidates; }

Scan::Step Scan::next(std::uint64_t& work_budget, Sequence& sequence,
                      nostr::PackedEventView& event) {
  Impl& impl = *impl_;
  if (impl.is_finished) return Step::kFinished;
  impl.reopen_if_changed();
  for (;;) {
    if (impl.is_finished) break;
    if (!impl.open_terms(work_budget)) return Step::kPaused;
    impl.drop_done();
    if (impl.merge.is_empty()) break;
    if (work_budget == 0) return Step::kPaused;
    --work_budget;
    const DirectoryRow row = impl.take_candidate(sequence);
    const bool is_served = impl.evaluate(row, sequence, event);
    impl.end_trials();
    if (is_served) return Step::kEvent;
  }
  impl.is_finished = true;
  impl.merge.clear();
  return Step::kFinished;
}

Scan::Impl::Impl(const QuerySources& from, std::span<const nostr::Filter> wanted, ScanLimits limits,
                 const ReadAccess& reader, std::int64_t now)
    : sources(from),
      access(reader),
      now_s(now),
      snapshot(from.directory.next_sequence()),
      total_limit(limits.total_limit),
      beyond(limits.beyond),
      merge(from.directory),
      version(from.postings.version()) {
  GYRE_ASSERT_CMP(limits.filter_limits.size(), ==, wanted.size());
  filters.reserve(wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    filters.emplace_back(wanted[i], limits.filter_limits[i], beyond);
  }
  is_finished = total_limit.is_spent() && beyond == ScanLimits::Beyond::kNone;
}

bool Scan::Impl::open_terms(std::uint64_t& budget) {
  for (; unopened < filters.size(); ++unopened) {
    ScanFilter& filter = filters[unopened];
    if (filter.is_done()) continue;
    if (!filter.is_planned()) {
      if (budget == 0) return false;
      filter.plan(sources);
      spend(budget, kPlanCost);
    }
    while (filter.has_unopened_terms()) {
      if (budget == 0) return false;
      open_next_term(unopened);
      spend(budget, 1);
    }
  }
  return true;
}

void Scan::Impl::open_next_term(std::size_t number) {
  const PostingRange range = filters[number].next_range();
  sources.postings.add_sources(range, place ? &*place : nullptr, merge);
  filter_of_source.resize(merge.source_count(), static_cast<std::uint32_t>(number));
}

void Scan::Impl::reopen_if_changed() {
  if (version == sources.postings.version()) return;
  version = sources.postings.version();
  merge.clear();
  filter_of_source.clear();
  for (ScanFilter& filter : filters) filter.forget_opened();
  unopened = 0;
}

void Scan::Impl::close_sources_of(std::size_t number) {
  std::replace(filter_of_source.begin(), filter_of_source.end(), static_cast<std::uint32_t>(number),
               kClosed);
}

void Scan::Impl::drop_done() {
  while (!merge.is_empty()) {
    const std::uint32_t number = filter_of_source[merge.top_number()];
    if (number != kClosed && !filters[number].is_done()) return;
    merge.drop();
  }
}

DirectoryRow Scan::Impl::take_candidate(Sequence& sequence) {
  ++candidates;
  sequence = merge.top().sequence();
  const std::uint64_t created_at = merge.top().created_at();
  due.clear();
  // An event that stands under several of the terms comes up once for each, one after the other.
  do {
    const std::uint32_t number = filter_of_source[merge.top_number()];
    if (number == kClosed || filters[number].is_done()) {
      merge.drop();
      continue;
    }
    due.push_back(number);
    merge.advance();
  } while (!merge.is_empty() && merge.top().created_at() == created_at &&
           merge.top().sequence() == sequence);
  if (due.size() > 1) {
    std::sort(due.begin(), due.end());
    due.erase(std::unique(due.begin(), due.end()), due.end());
  }
  const DirectoryRow row = sources.directory.row(sequence);
  place = PostingPlace{created_at, row.id_prefix, sequence};
  return row;
}

void Scan::Impl::end_trials() {
  for (const std::uint32_t number : due) {
    if (!filters[number].end_trial_after_candidate()) continue;
    close_sources_of(number);
    unopened = std::min<std::size_t>(unopened, number);
  }
}

bool Scan::Impl::evaluate(const DirectoryRow& row, Sequence sequence,
                          nostr::PackedEventView& event) {
  if (sequence >= snapshot || (row.flags & kRowDead) != 0) return false;
  bool is_loaded = false;
  bool is_readable = false;
  bool is_within = false;
  bool is_beyond = false;
  for (const std::uint32_t number : due) {
    ScanFilter& filter = filters[number];
    if (!filter.may_match(row)) continue;
    if (!is_loaded) {
      event = event_of_record(sources.log.read(row.position));
      is_loaded = true;
    }
    if (!filter.matches(event)) continue;
    if (!is_readable && (has_expired(row, event) || !access.may_read(event))) return false;
    is_readable = true;
    const ScanFilter::Admission admission = filter.admit(row.created_at);
    is_within = is_within || admission == ScanFilter::Admission::kWithin;
    is_beyond = is_beyond || admission == ScanFilter::Admission::kBeyond;
  }
  return is_within ? admit_in_total(row.created_at) : is_beyond;
}

bool Scan::Impl::admit_in_total(std::uint64_t created_at) {
  if (!total_limit.admits(created_at)) {
    is_finished = true;
    return beyond == ScanLimits::Beyond::kOne;
  }
  total_limit.give(created_at);
  is_finished = total_limit.is_spent() && beyond == ScanLimits::Beyond::kNone;
  return true;
}

bool Scan::Impl::has_expired(const DirectoryRow& row, nostr::PackedEventView event) const {
  if ((row.flags & kRowExpires) == 0) return false;
  const std::optional<std::uint64_t> expiration = event.expiration();
  return expiration && now_s >= 0 && *expiration <= static_cast<std::uint64_t>(now_s);
}

}  // namespace gyre::storage
