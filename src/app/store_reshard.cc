#include "app/store_reshard.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "app/import_lane.h"
#include "app/offline_store.h"
#include "app/parallel_shards.h"
#include "app/progress.h"
#include "gyre/base/clock.h"
#include "gyre/base/shared_bytes.h"
#include "gyre/storage/shard_contents.h"

namespace gyre::app {
namespace {

using nostr::PackedEventView;
using storage::Sequence;
using storage::Verdict;

// Nothing has expired at this time: what has, is the relay's to sweep, and goes on refusing older
// versions.
class BeforeExpirations final : public Clock {
 public:
  [[nodiscard]] std::uint64_t monotonic_ns() const override { return clock_.monotonic_ns(); }
  [[nodiscard]] std::int64_t unix_s() const override { return -1; }

 private:
  SystemClock clock_;
};

const char* reason_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kDuplicate: return "it is there already";
    case Verdict::kStale: return "a newer version is there";
    case Verdict::kDeleted: return "its author or recipient has deleted it";
    case Verdict::kVanished: return "its author or recipient has vanished";
    case Verdict::kTooLarge: return "it is larger than a segment of the log";
    case Verdict::kAccept:
    case Verdict::kExpired:
    case Verdict::kDiskFull:
    case Verdict::kBusy:
    case Verdict::kReading: break;
  }
  return "unexpected verdict";
}

class Reshard final : public storage::ShardContents {
 public:
  Reshard(OfflineStore& from, OfflineStore& to)
      : from_(from), to_(to), progress_("events", 2 * total_bytes(from)) {
    for (std::uint32_t i = 0; i < to.shard_count(); ++i) {
      lanes_.push_back(std::make_unique<ImportLane>(to.shard(static_cast<ShardId>(i))));
    }
    dead_.resize(to.shard_count());
  }

  absl::StatusOr<ReshardReport> run() {
    for (const auto& lane : lanes_) lane->start();
    absl::Status status = read_shards(Pass::kEvents);
    if (status.ok()) status = read_shards(Pass::kTombstones);
    finish_lanes();
    progress_.finish();
    if (status.ok() && is_disk_full_) status = absl::ResourceExhaustedError("the disk is full");
    if (status.ok()) status = retire_dead();
    if (status.ok()) status = place_marks();
    if (!status.ok()) return status;
    return report_;
  }

  absl::Status take_alive(PackedEventView event) override {
    if (pass_ == Pass::kEvents) put(event, 0);
    return absl::OkStatus();
  }
  absl::Status take_dead_version(PackedEventView event) override {
    if (pass_ == Pass::kEvents) put(event, kIsDead);
    return absl::OkStatus();
  }
  absl::Status take_tombstones(PackedEventView request) override {
    if (pass_ == Pass::kEvents || !spread_.insert(request.id()).second) return absl::OkStatus();
    ++report_.remembered;
    const SharedBytes bytes = SharedBytes::copy_of(request.bytes());
    for (ShardId shard = 0; shard < lanes_.size(); ++shard) {
      push(shard, {SharedBytes(bytes).detach(), kIsDead, ImportLane::Origin::kForeignRequest});
    }
    return absl::OkStatus();
  }
  absl::Status take_address_mark(const storage::AddressMark& mark) override {
    if (pass_ == Pass::kEvents) marks_.push_back(mark);
    return absl::OkStatus();
  }
  void drop() override {
    if (pass_ == Pass::kEvents) ++report_.dropped;
  }
  absl::Status advance(std::uint64_t bytes) override {
    bytes_done_ += bytes;
    progress_.update(report_.events, bytes_done_, "");
    if (is_disk_full_) return absl::ResourceExhaustedError("the disk is full");
    return interruption();
  }

 private:
  // Marks an item whose event is to be dead in the new store too.
  static constexpr std::uint64_t kIsDead = 1;
  // Requests that are dead, or stored in another shard, come when all others are there: they refuse
  // more than what they made dead, the request itself for one.
  enum class Pass : std::uint8_t { kEvents, kTombstones };

  static std::uint64_t total_bytes(OfflineStore& store) {
    std::uint64_t bytes = 0;
    for (std::uint32_t i = 0; i < store.shard_count(); ++i) {
      bytes += store.shard(static_cast<ShardId>(i)).statistics().log_bytes;
    }
    return bytes;
  }

  absl::Status read_shards(Pass pass) {
    pass_ = pass;
    absl::Status status;
    for (std::uint32_t i = 0; i < from_.shard_count() && status.ok(); ++i) {
      const auto shard = static_cast<ShardId>(i);
      status = storage::read_contents(storage::posix_file_system(), from_.shard_path(shard),
                                      from_.shard(shard).sources().directory, *this);
    }
    return status;
  }

  void put(PackedEventView event, std::uint64_t mark) {
    const SharedBytes bytes = SharedBytes::copy_of(event.bytes());
    const ShardId owner = to_.owner_of(event.pubkey());
    push(owner, {SharedBytes(bytes).detach(), mark, ImportLane::Origin::kTrusted});
    if (!storage::Store::has_foreign_effects(event)) return;
    spread_.insert(event.id());
    for (ShardId shard = 0; shard < lanes_.size(); ++shard) {
      if (shard == owner) continue;
      push(shard, {SharedBytes(bytes).detach(), mark, ImportLane::Origin::kForeignRequest});
    }
  }

  void push(ShardId shard, const ImportLane::Item& item) {
    while (!lanes_[shard]->try_push(item)) {
      if (!take_results()) std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  bool take_results() {
    bool took = false;
    ImportLane::Result result;
    for (ShardId shard = 0; shard < lanes_.size(); ++shard) {
      while (lanes_[shard]->try_take(result)) {
        took = true;
        count(shard, result);
      }
    }
    return took;
  }

  void count(ShardId shard, const ImportLane::Result& result) {
    if (result.verdict == Verdict::kDiskFull) {
      is_disk_full_ = true;
    } else if (result.line == kIsDead) {
      ++report_.remembered;
      if (result.verdict == Verdict::kAccept) dead_[shard].push_back(result.sequence);
    } else if (result.verdict == Verdict::kAccept) {
      ++report_.events;
    } else {
      ++report_.refused[reason_of(result.verdict)];
    }
  }

  void finish_lanes() {
    for (const auto& lane : lanes_) lane->request_finish();
    for (const auto& lane : lanes_) {
      while (!lane->is_done()) {
        if (!take_results()) std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
      lane->finish();
    }
    take_results();
  }

  // What deletions that came along have not made dead by themselves.
  absl::Status retire_dead() {
    for (ShardId shard = 0; shard < lanes_.size(); ++shard) {
      storage::Store& store = to_.shard(shard);
      for (const Sequence sequence : dead_[shard]) {
        if (store.sources().directory.is_dead(sequence)) continue;
        const std::array<Sequence, 1> one = {sequence};
        absl::Status status = until_done(store, [&] { return store.retire_by_operator(one); });
        if (!status.ok()) return status;
      }
    }
    return absl::OkStatus();
  }

  absl::Status place_marks() {
    for (const storage::AddressMark& mark : marks_) {
      storage::Store& store = to_.shard(to_.owner_of(mark.pubkey));
      absl::Status status = until_done(store, [&] { return store.remember_address(mark); });
      if (!status.ok()) return status;
      ++report_.remembered;
    }
    return absl::OkStatus();
  }

  template <typename Attempt>
  static absl::Status until_done(storage::Store& store, const Attempt& attempt) {
    while (true) {
      const Verdict verdict = attempt();
      if (verdict == Verdict::kAccept) return absl::OkStatus();
      if (verdict != Verdict::kBusy) return absl::ResourceExhaustedError("the disk is full");
      store.work();
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }

  OfflineStore& from_;
  OfflineStore& to_;
  Progress progress_;
  std::vector<std::unique_ptr<ImportLane>> lanes_;
  std::vector<std::vector<Sequence>> dead_;  // By new shard: events that are to be dead there.
  absl::flat_hash_set<Bytes32> spread_;      // Requests that have reached every shard.
  std::vector<storage::AddressMark> marks_;
  Pass pass_ = Pass::kEvents;
  ReshardReport report_;
  std::uint64_t bytes_done_ = 0;
  bool is_disk_full_ = false;
};

// Folders of shards are made first, and hold nothing before the store has its name.
bool is_barely_begun(const std::string& unfinished) {
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(unfinished, error)) {
    const bool is_unfinished_header = entry.path().filename() == "gyre-store.tmp";
    if (!entry.is_directory(error) && !is_unfinished_header) return false;
  }
  return !error;
}

// Leaves nothing of an interrupted attempt, and refuses to touch what is none.
absl::Status prepare(const ReshardOptions& options, const std::string& unfinished) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::exists(options.to, error) && !fs::is_empty(options.to, error)) {
    return absl::FailedPreconditionError(options.to +
                                         " is not empty; choose a folder that does not exist yet");
  }
  if (!fs::exists(unfinished, error)) return absl::OkStatus();
  if (!fs::exists(unfinished + "/gyre-store", error) && !is_barely_begun(unfinished)) {
    return absl::FailedPreconditionError(unfinished +
                                         " is in the way and is no unfinished store; move it");
  }
  fs::remove_all(unfinished, error);
  if (!error) return absl::OkStatus();
  return absl::InternalError("cannot remove " + unfinished + ": " + error.message());
}

absl::StatusOr<ReshardReport> fill(OfflineStore& from, const ReshardOptions& options,
                                   const std::string& unfinished) {
  const BeforeExpirations clock;
  // The key stays: address marks are known by their term alone.
  absl::Status status =
      storage::make_store(storage::posix_file_system(), unfinished, {options.shards, from.key()});
  if (!status.ok()) return status;
  auto to = OfflineStore::open(unfinished, OfflineStore::Mode::kCreate, options.shards, {}, &clock);
  if (!to.ok()) return to.status();
  auto report = Reshard(from, **to).run();
  if (status = (*to)->close(); !status.ok() && report.ok()) return status;
  return report;
}

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

absl::StatusOr<ReshardReport> run_reshard(const ReshardOptions& options) {
  const SystemClock clock;
  const std::uint64_t begin_ns = clock.monotonic_ns();
  const std::string target = without_slashes(options.to);
  const std::string unfinished = target + ".unfinished";
  if (absl::Status status = prepare(options, unfinished); !status.ok()) return status;
  auto from = OfflineStore::open(options.store_path, OfflineStore::Mode::kMustExist, 1, {});
  if (!from.ok()) return from.status();
  auto report = fill(**from, options, unfinished);
  if (absl::Status status = (*from)->close(); !status.ok() && report.ok()) return status;
  if (!report.ok()) return report;

  storage::FileSystem& files = storage::posix_file_system();
  absl::Status status = files.rename(unfinished, target);
  const std::string parent = std::filesystem::path(target).parent_path();
  if (status.ok()) status = files.sync_directory(parent.empty() ? "." : parent);
  if (!status.ok()) return status;
  report->seconds = static_cast<double>(clock.monotonic_ns() - begin_ns) / 1e9;
  return report;
}

}  // namespace gyre::app
