// QueryRunner: the owner's side of stored queries: runs scans in slices and sends batches against
// credit.
//
// Of a query with a limit, each of N owners holds about an Nth of the answer. An owner gives that
// and a little more at once, and the rest when it is asked: else N owners read N times the limit.
//
// The first slice runs while the request is taken, and its batch is sent at once, so that the
// scan's snapshot and the batch stand at one point of the reply ring (relay/gatherer.h says why).
//
// A scan that waits for the disk lies aside until its read is done, and the others go on.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "gyre/base/clock.h"
#include "gyre/relay/messages.h"
#include "gyre/runtime/mesh.h"
#include "gyre/storage/store.h"
#include "relay/query_request.h"
#include "relay/result_batch.h"

namespace gyre::relay {

class QueryRunner {
 public:
  // Replies that taking one request or one slice of work() can send to one shard, at most.
  static constexpr std::size_t kRepliesMax = 4;

  QueryRunner(runtime::MeshPort& port, const storage::Store& store, const Clock& clock)
      : port_(port), store_(store), clock_(clock) {}

  void on_query(ShardId from, const Query& query);
  void on_more(ShardId from, const More& more);
  void on_cancel(ShardId from, const Cancel& cancel);

  // Resumes waiting scans, each for a slice, for about kTurnNs in all. True if scans still wait.
  bool work();
  [[nodiscard]] std::size_t running_count() const { return scans_.size(); }

 private:
  struct Run final : storage::ColdReads::Waiter {
    explicit Run(QueryRunner& owner) : runner(owner) {}
    void on_read_progress() override { runner.make_ready(*this); }

    QueryRunner& runner;
    ShardId asker = 0;
    QueryId query = 0;
    const QueryRequest* request = nullptr;
    std::unique_ptr<storage::Scan> scan;
    ResultBatchWriter writer;
    std::uint32_t credit = 0;  // Batches it may still send.
    std::uint64_t share = 0;   // Events it may still send before it is asked for more.
    std::uint64_t sent = 0;    // Events.
    std::uint64_t count = 0;
    std::uint64_t spent_ns = 0;
    bool has_sent = false;
    bool is_ready = false;  // In ready_.
  };
  enum class SliceEnd : std::uint8_t { kPaused, kWaiting, kNoCredit, kFinished };

  [[nodiscard]] static std::uint64_t key(ShardId asker, QueryId query) {
    return std::uint64_t{asker} << 32 | query;
  }
  [[nodiscard]] bool count_at_once(Run& run);
  void run_slice(Run& run);
  [[nodiscard]] SliceEnd scan_slice(Run& run);
  void send_batch(Run& run);
  void send_last(Run& run, bool is_out_of_time);
  void make_ready(Run& run);

  runtime::MeshPort& port_;
  const storage::Store& store_;
  const Clock& clock_;
  absl::flat_hash_map<std::uint64_t, std::unique_ptr<Run>> scans_;
  std::deque<std::uint64_t> ready_;  // Keys; those of ended scans are passed over.
};

}  // namespace gyre::relay
