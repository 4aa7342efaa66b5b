#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "gyre/base/assert.h"
#include "gyre/storage/query.h"
#include "storage/fixed_queue.h"
#include "storage/posting_merge.h"
#include "storage/record.h"
#include "storage/scan_filter.h"

namespace gyre::storage {
namespace {

// What planning a filter costs in candidates: up to a hundred estimates.
constexpr std::uint64_t kPlanCost = 32;

// A scan knows what it will look at next. Rows and records lie anywhere in memory, and a miss costs
// some 100 ns: they are asked for so many steps ahead, which is as many as a core can have under
// way.
constexpr std::size_t kRowsAheadMax = 8;
constexpr std::size_t kRecordsAhead = 4;
constexpr std::size_t kTermsAhead = 6;

void spend(std::uint64_t& budget, std::uint64_t cost) { budget -= std::min(budget, cost); }

}  // namespace

// All filters share one merge, so every place in the stream is a place in all of them, and one
// place is enough to go on from: whatever changes in the index, everything up to `place` has been
// looked at or waits in `ahead`, and nothing behind it.
struct Scan::Impl {
  Impl(const QuerySources& from, std::span<const nostr::Filter> wanted, ScanLimits limits,
       const ReadAccess& reader, std::int64_t now, ColdReads::Waiter* who_waits);
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { leave_line(); }

  using FilterNumbers = absl::InlinedVector<std::uint32_t, 2>;
  // Taken off the merge; its row is on its way from memory.
  struct Taken {
    Sequence sequence;
    FilterNumbers due;  // The filters it may belong to.
  };
  // By its row wanted, and waiting for its event or for one before it.
  struct Candidate {
    Sequence sequence;
    DirectoryRow row;
    FilterNumbers due;
    ColdRead read;
  };

  enum class Progress : std::uint8_t { kCandidate, kNoBudget, kEnd };
  // Takes the next candidate off the merge.
  [[nodiscard]] Progress find_candidate(std::uint64_t& budget);
  // Opens what is not open yet; false if the budget ended first.
  [[nodiscard]] bool open_terms(std::uint64_t& budget);
  void open_next_term(std::size_t number);
  void reopen_if_changed();
  void close_sources_of(std::size_t number);
  // Takes the sources of filters that are done off the top.
  void drop_done();
  void take_candidate();
  void end_trials(const FilterNumbers& numbers);
  // What the row alone says about it; false is certain.
  [[nodiscard]] bool is_wanted(Sequence sequence, const DirectoryRow& row,
                               const FilterNumbers& due) const;
  [[nodiscard]] bool is_cold(const DirectoryRow& of) const {
    return sources.reads != nullptr && sources.reads->is_cold(of.position);
  }

  // The event is to be served; counts it for its filters.
  [[nodiscard]] bool evaluate(const Candidate& candidate, nostr::PackedEventView event);
  [[nodiscard]] bool admit_in_total(std::uint64_t created_at);
  [[nodiscard]] bool has_expired(const DirectoryRow& of, nostr::PackedEventView event) const;

  // Looking ahead. kCandidate: there is one in `ahead`.
  [[nodiscard]] Progress look_ahead(std::uint64_t& budget);
  void look_at_taken();
  void fetch_records();
  void start_reads();
  void restart_reads();
  [[nodiscard]] std::uint64_t wanted_ahead() const;
  void pop_ahead();
  enum class Load : std::uint8_t { kReading, kLoaded, kLeftOut };
  [[nodiscard]] Load load(Candidate& candidate, nostr::PackedEventView& event);
  [[nodiscard]] nostr::PackedEventView event_in(const Candidate& candidate) const;
  void leave_line();

  static constexpr std::uint32_t kClosed = UINT32_MAX;

  const QuerySources sources;
  const ReadAccess& access;
  const std::int64_t now_s;
  ColdReads::Waiter* const waiter;
  const Sequence snapshot;

  std::vector<ScanFilter> filters;
  std::size_t unopened = 0;  // Filters before this have all their terms open.
  ResultLimit total_limit;
  const ScanLimits::Beyond beyond;
  PostingMerge merge;
  std::vector<std::uint32_t> filter_of_source;  // Or kClosed.
  std::uint64_t version;                        // Of the index the sources are from.
  struct Place {
    std::uint64_t created_at;
    Sequence sequence;
  };
  std::optional<Place> place;  // Of the last candidate that was taken.

  FixedQueue<Taken, kRowsAheadMax> taken;
  FixedQueue<Candidate, kReadsAheadMax> ahead;  // Before all of `taken`.
  ColdRead lent;                                // Of the event that next() gave last.
  std::size_t fetched = 0;         // Of `ahead`, those before this have been asked for from memory.
  std::size_t started = 0;         // Of `ahead`, those before this have had their read started.
  std::uint64_t rows_in_vain = 0;  // Rows looked at that no filter wanted.
  std::uint64_t reads_in_vain = 0;  // Events read that no filter wanted.
  bool is_in_line = false;

  ScanStatistics statistics;
  bool is_finished = false;
};

Scan::Scan(const QuerySources& sources, std::span<const nostr::Filter> filters, ScanLimits limits,
           const ReadAccess& access, std::int64_t now_s, ColdReads::Waiter* waiter)
    : impl_(std::make_unique<Impl>(sources, filters, std::move(limits), access, now_s, waiter)) {}
Scan::Scan(Scan&&) noexcept = default;
Scan& Scan::operator=(Scan&&) noexcept = default;
Scan::~Scan() = default;

const ScanStatistics& Scan::statistics() const { return impl_->statistics; }

Scan::Step Scan::next(std::uint64_t& work_budget, Sequence& sequence,
                      nostr::PackedEventView& event) {
  Impl& impl = *impl_;
  if (impl.is_finished) return Step::kFinished;
  impl.lent.reset();
  impl.reopen_if_changed();
  while (!impl.is_finished) {
    const Impl::Progress progress = impl.look_ahead(work_budget);
    if (progress == Impl::Progress::kNoBudget) return Step::kPaused;
    if (progress == Impl::Progress::kEnd) break;
    Impl::Candidate& first = impl.ahead.front();
    const Impl::Load load = impl.load(first, event);
    if (load == Impl::Load::kReading) return Step::kWaiting;
    if (load == Impl::Load::kLoaded) {
      ++impl.statistics.records;
      impl.statistics.bytes += event.total_bytes();
    }
    const bool is_served = load == Impl::Load::kLoaded && impl.evaluate(first, event);
    if (load == Impl::Load::kLoaded && !is_served) ++impl.reads_in_vain;
    sequence = first.sequence;
    if (is_served) impl.lent = std::move(first.read);
    impl.pop_ahead();
    if (is_served) return Step::kEvent;
  }
  impl.is_finished = true;
  impl.merge.clear();
  release_reads();
  impl.taken.clear();
  impl.ahead.clear();
  return Step::kFinished;
}

void Scan::release_reads() {
  impl_->lent.reset();
  for (std::size_t i = 0; i < impl_->ahead.size(); ++i) impl_->ahead[i].read.reset();
  impl_->started = 0;
  impl_->leave_line();
}

Scan::Impl::Impl(const QuerySources& from, std::span<const nostr::Filter> wanted, ScanLimits limits,
                 const ReadAccess& reader, std::int64_t now, ColdReads::Waiter* who_waits)
    : sources(from),
      access(reader),
      now_s(now),
      waiter(who_waits),
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

Scan::Impl::Progress Scan::Impl::find_candidate(std::uint64_t& budget) {
  if (!open_terms(budget)) return Progress::kNoBudget;
  drop_done();
  if (merge.is_empty()) return Progress::kEnd;
  if (budget == 0) return Progress::kNoBudget;
  --budget;
  take_candidate();
  return Progress::kCandidate;
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
  const std::span<const Term> coming = filters[number].unopened_terms();
  if (coming.size() > kTermsAhead) sources.postings.prefetch_find(coming[kTermsAhead]);
  const PostingRange range = filters[number].next_range();
  ++statistics.terms;
  if (place) {
    const PostingPlace from = {place->created_at, sources.directory.row(place->sequence).id_prefix,
                               place->sequence};
    sources.postings.add_sources(range, &from, merge);
  } else {
    sources.postings.add_sources(range, nullptr, merge);
  }
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

void Scan::Impl::take_candidate() {
  ++statistics.candidates;
  const Sequence sequence = merge.top().sequence();
  const std::uint64_t created_at = merge.top().created_at();
  sources.directory.prefetch(sequence);
  Taken& candidate = taken.push();
  candidate.sequence = sequence;
  FilterNumbers& due = candidate.due;
  due.clear();
  // An event that stands under several of the terms comes up once for each, one after the other.
  do {
    const std::uint32_t number = filter_of_source[merge.top_number()];
    if (number == kClosed || filters[number].is_done()) {
      merge.drop();
      continue;
    }
    due.push_back(number);
    ++statistics.postings;
    merge.advance();
  } while (!merge.is_empty() && merge.top().created_at() == created_at &&
           merge.top().sequence() == sequence);
  if (due.size() > 1) {
    std::sort(due.begin(), due.end());
    due.erase(std::unique(due.begin(), due.end()), due.end());
  }
  place = Place{created_at, sequence};
  end_trials(due);
}

void Scan::Impl::end_trials(const FilterNumbers& numbers) {
  for (const std::uint32_t number : numbers) {
    if (!filters[number].end_trial_after_candidate()) continue;
    close_sources_of(number);
    unopened = std::min<std::size_t>(unopened, number);
  }
}

bool Scan::Impl::is_wanted(Sequence sequence, const DirectoryRow& row,
                           const FilterNumbers& due) const {
  if (sequence >= snapshot || (row.flags & kRowDead) != 0) return false;
  return std::ranges::any_of(due, [this, &row](std::uint32_t number) {
    return !filters[number].is_done() && filters[number].may_match(row);
  });
}

bool Scan::Impl::evaluate(const Candidate& candidate, nostr::PackedEventView event) {
  const DirectoryRow& row = candidate.row;
  bool is_readable = false;
  bool is_within = false;
  bool is_beyond = false;
  for (const std::uint32_t number : candidate.due) {
    ScanFilter& filter = filters[number];
    // What was taken ahead may be more than the filter can use.
    if (filter.is_done() || !filter.may_match(row) || !filter.matches(event)) continue;
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

bool Scan::Impl::has_expired(const DirectoryRow& of, nostr::PackedEventView event) const {
  if ((of.flags & kRowExpires) == 0) return false;
  const std::optional<std::uint64_t> expiration = event.expiration();
  return expiration && now_s >= 0 && *expiration <= static_cast<std::uint64_t>(now_s);
}

// Looking ahead.

// As many as the filters can still use.
std::uint64_t Scan::Impl::wanted_ahead() const {
  constexpr std::uint64_t kMax = kReadsAheadMax;
  const std::uint64_t one_beyond = beyond == ScanLimits::Beyond::kOne ? 1 : 0;
  std::uint64_t wanted = 0;
  for (const ScanFilter& filter : filters) {
    wanted += std::min(filter.remaining(), kMax) + one_beyond;
  }
  return std::min(wanted, std::min(total_limit.remaining(), kMax) + one_beyond);
}

// To what the filters can still use comes twice what turned out to be of no use, so that a filter
// that wants one event of many does not go to them one after the other. What is in memory waits
// too, for the order's sake.
Scan::Impl::Progress Scan::Impl::look_ahead(std::uint64_t& budget) {
  constexpr std::uint64_t kMax = kReadsAheadMax;
  Progress progress = Progress::kCandidate;
  const std::uint64_t wanted = std::max<std::uint64_t>(wanted_ahead(), 1);
  const std::uint64_t records_max = std::min(wanted + 2 * reads_in_vain, kMax);
  while (ahead.size() < records_max) {
    const std::uint64_t rows_max = std::min(wanted + 2 * (reads_in_vain + rows_in_vain), kMax);
    while (progress == Progress::kCandidate && !taken.is_full() &&
           ahead.size() + taken.size() < rows_max) {
      progress = find_candidate(budget);
    }
    if (taken.is_empty()) break;
    look_at_taken();
  }
  fetch_records();
  start_reads();
  return ahead.is_empty() ? progress : Progress::kCandidate;
}

void Scan::Impl::look_at_taken() {
  const Taken& oldest = taken.front();
  const DirectoryRow row = sources.directory.row(oldest.sequence);
  ++statistics.rows;
  if (is_wanted(oldest.sequence, row, oldest.due)) {
    Candidate& candidate = ahead.push();
    candidate.sequence = oldest.sequence;
    candidate.row = row;
    candidate.due = oldest.due;
    candidate.read.reset();
    if (!is_cold(row)) sources.log.prefetch_head(row.position);
  } else {
    ++rows_in_vain;
  }
  taken.pop();
}

void Scan::Impl::fetch_records() {
  for (; fetched < std::min(ahead.size(), kRecordsAhead); ++fetched) {
    const DirectoryRow& row = ahead[fetched].row;
    if (!is_cold(row)) sources.log.prefetch(row.position);
  }
}

void Scan::Impl::pop_ahead() {
  ahead.front().read.reset();
  ahead.pop();
  fetched -= std::min<std::size_t>(fetched, 1);
  started -= std::min<std::size_t>(started, 1);
}

// In order, so that whoever holds a read holds the one it needs first.
void Scan::Impl::start_reads() {
  for (; started < ahead.size(); ++started) {
    Candidate& candidate = ahead[started];
    // The record of a dead one may be gone by now; load() leaves it out.
    if (!is_cold(candidate.row) || sources.directory.is_dead(candidate.sequence)) continue;
    GYRE_ASSERT(waiter != nullptr);
    if (started == 0) {
      candidate.read = sources.reads->start(candidate.row.position, *waiter);
      is_in_line = candidate.read.is_null();
    } else {
      candidate.read = sources.reads->start_ahead(candidate.row.position);
    }
    if (candidate.read.is_null()) return;
  }
}

Scan::Impl::Load Scan::Impl::load(Candidate& candidate, nostr::PackedEventView& event) {
  // It may have died, and its filters may have got all they want, since it was taken.
  const bool is_of_use = std::ranges::any_of(
      candidate.due, [this](std::uint32_t number) { return !filters[number].is_done(); });
  if (!is_of_use || sources.directory.is_dead(candidate.sequence)) return Load::kLeftOut;
  if (candidate.read.is_null() && !is_cold(candidate.row)) {
    event = read_event(sources, candidate.row);
    return event.is_null() ? Load::kLeftOut : Load::kLoaded;
  }
  // It was in memory when it was taken, and the log has grown since.
  if (candidate.read.is_null() && started > 0) restart_reads();
  if (candidate.read.is_null()) return Load::kReading;  // In line for a buffer.
  switch (sources.reads->need(candidate.read, waiter)) {
    case ColdReads::State::kReading: return Load::kReading;
    case ColdReads::State::kUnreadable: return Load::kLeftOut;
    case ColdReads::State::kReady: break;
  }
  event = event_in(candidate);
  return event.is_null() ? Load::kLeftOut : Load::kLoaded;
}

void Scan::Impl::restart_reads() {
  for (std::size_t i = 0; i < ahead.size(); ++i) ahead[i].read.reset();
  started = 0;
  start_reads();
}

nostr::PackedEventView Scan::Impl::event_in(const Candidate& candidate) const {
  const nostr::PackedEventView event = event_of_record(sources.reads->payload(candidate.read));
  if (event.is_null()) sources.log.report_damage(candidate.row.position);
  return event;
}

void Scan::Impl::leave_line() {
  if (std::exchange(is_in_line, false)) sources.reads->leave_line(*waiter);
}

}  // namespace gyre::storage
