#include "relay/query_runner.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "gyre/base/assert.h"
#include "relay/gatherer.h"

namespace gyre::relay {
namespace {

// Candidates looked at in one slice: some 50 to 200 us, so other work waits no longer than that.
constexpr std::uint64_t kSliceCandidates = 512;
// Events asked for once more.
constexpr std::uint64_t kShareMin = 8;
// Scanning in one turn; bounds how long sockets and signatures wait behind heavy queries.
constexpr std::uint64_t kTurnNs = 1'000'000;

std::uint64_t square_root(std::uint64_t number) {
  return static_cast<std::uint64_t>(std::sqrt(static_cast<double>(number)));
}

// How many events of the answer one of `owner_count` owners is likely to hold at most: authors are
// spread by chance, so it is within two standard deviations, which are about the root of the mean.
std::uint64_t likely_share(const QueryRequest& request, std::uint32_t owner_count) {
  constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  if (owner_count == 1 || request.mode == QueryRequest::Mode::kCount) return kAll;
  std::uint64_t sum = 0;
  for (const storage::ResultLimit& limit : request.limits.filter_limits) {
    sum += std::min(limit.count(), kAll - sum);
  }
  const std::uint64_t all = std::min(sum, request.limits.total_limit.count());
  const std::uint64_t mean = all / owner_count + 1;
  return mean + 2 * square_root(mean);
}

}  // namespace

void QueryRunner::on_query(ShardId from, const Query& query) {
  auto run = std::make_unique<Run>(*this);
  run->asker = from;
  run->query = query.query;
  run->request = query.request;
  run->credit = Gather::kBatchesAhead;
  run->share = likely_share(*query.request, query.owner_count);
  if (count_at_once(*run)) return;
  run->scan = std::make_unique<storage::Scan>(store_.sources(), query.request->filters,
                                              query.request->limits, query.request->access,
                                              query.request->now_s, run.get());
  Run& started = *run;
  const bool is_new = scans_.emplace(key(from, query.query), std::move(run)).second;
  GYRE_ASSERT(is_new);
  run_slice(started);
}

// Most counts need no scan. The union of several filters does: an event may match two of them.
bool QueryRunner::count_at_once(Run& run) {
  const QueryRequest& request = *run.request;
  if (request.mode != QueryRequest::Mode::kCount || request.filters.size() != 1) return false;
  const std::optional<std::uint64_t> count =
      store_.count(request.filters.front(), request.access, request.now_s);
  if (!count) return false;
  run.count = *count;
  send_last(run, false);
  return true;
}

void QueryRunner::on_more(ShardId from, const More& more) {
  const auto found = scans_.find(key(from, more.query));
  if (found == scans_.end()) return;  // Its last batch has crossed this message.
  Run& run = *found->second;
  ++run.credit;
  // A quarter more each time: what was expected was little.
  if (run.share == 0) {
    run.share = std::max<std::uint64_t>(run.sent / 4, kShareMin);
  }
  make_ready(run);
}

void QueryRunner::on_cancel(ShardId from, const Cancel& cancel) {
  const auto found = scans_.find(key(from, cancel.query));
  if (found == scans_.end()) return;
  found->second->writer = ResultBatchWriter();
  send_last(*found->second, false);
}

void QueryRunner::make_ready(Run& run) {
  if (run.is_ready) return;
  run.is_ready = true;
  ready_.push_back(key(run.asker, run.query));
}

bool QueryRunner::work() {
  const std::uint64_t deadline_ns = clock_.monotonic_ns() + kTurnNs;
  while (!ready_.empty()) {
    if (!port_.has_reply_room_everywhere(kRepliesMax)) return true;
    const auto found = scans_.find(ready_.front());
    ready_.pop_front();
    if (found == scans_.end() || !found->second->is_ready) continue;
    found->second->is_ready = false;
    run_slice(*found->second);
    if (clock_.monotonic_ns() >= deadline_ns) break;
  }
  return !ready_.empty();
}

void QueryRunner::run_slice(Run& run) {
  const std::uint64_t begin_ns = clock_.monotonic_ns();
  const SliceEnd end = scan_slice(run);
  run.spent_ns += clock_.monotonic_ns() - begin_ns;
  if (end == SliceEnd::kFinished) return send_last(run, false);
  if (run.spent_ns > run.request->time_limit_ns) return send_last(run, true);
  // Who has sent its share may hold the rest of a batch.
  const bool has_sent_share = run.share == 0 && !run.writer.is_empty();
  if (!run.has_sent || has_sent_share) send_batch(run);
  if (end == SliceEnd::kPaused) make_ready(run);
  // Nobody knows when the asker goes on, and others may need the buffers.
  if (end == SliceEnd::kNoCredit) run.scan->release_reads();
}

QueryRunner::SliceEnd QueryRunner::scan_slice(Run& run) {
  std::uint64_t budget = kSliceCandidates;
  while (run.credit > 0 && run.share > 0) {
    storage::Sequence sequence = 0;
    nostr::PackedEventView event;
    switch (run.scan->next(budget, sequence, event)) {
      case storage::Scan::Step::kFinished: return SliceEnd::kFinished;
      case storage::Scan::Step::kPaused: return SliceEnd::kPaused;
      case storage::Scan::Step::kWaiting: return SliceEnd::kWaiting;
      case storage::Scan::Step::kEvent: break;
    }
    if (run.request->mode == QueryRequest::Mode::kCount) {
      ++run.count;
      continue;
    }
    run.writer.append(event);
    ++run.sent;
    --run.share;
    if (run.writer.is_full()) send_batch(run);
  }
  return SliceEnd::kNoCredit;
}

void QueryRunner::send_batch(Run& run) {
  Batch batch;
  batch.query = run.query;
  if (!run.writer.is_empty()) {
    batch.events = run.writer.take().detach();
    --run.credit;
  }
  run.has_sent = true;
  GYRE_ASSERT(port_.try_send_reply(run.asker, to_slot(batch)));
}

void QueryRunner::send_last(Run& run, bool is_out_of_time) {
  Batch batch;
  batch.query = run.query;
  batch.is_last = 1;
  batch.is_out_of_time = is_out_of_time ? 1 : 0;
  batch.count = run.count;
  batch.events = run.writer.take().detach();
  GYRE_ASSERT(port_.try_send_reply(run.asker, to_slot(batch)));
  scans_.erase(key(run.asker, run.query));
}

}  // namespace gyre::relay
