#include "app/import_lane.h"

#include <chrono>

#include "gyre/base/assert.h"

namespace gyre::app {
namespace {

using nostr::PackedEventView;
using storage::Verdict;

constexpr std::size_t kBatch = 64;
constexpr std::uint32_t kKeyCacheSlots = 16'384;

// A lane waits only while the disk or the reader is slower than it; a short nap costs nothing then.
void nap() { std::this_thread::sleep_for(std::chrono::microseconds(100)); }

}  // namespace

ImportLane::ImportLane(storage::Store& store)
    : store_(store), verifier_(nostr::make_signature_verifier(kKeyCacheSlots)) {}

ImportLane::~ImportLane() { GYRE_ASSERT(!thread_.joinable()); }

void ImportLane::start() {
  thread_ = std::thread([this] { run(); });
}

bool ImportLane::try_push(const Item& item) {
  if (!items_.try_push(item)) return false;
  items_.publish();
  return true;
}

bool ImportLane::try_take(Result& result) { return results_.try_pop(result); }

void ImportLane::request_finish() { is_finishing_.store(true, std::memory_order_release); }

void ImportLane::finish() { thread_.join(); }

void ImportLane::run() {
  store_.start_threads([] {});
  while (true) {
    // Read before the ring, so that items pushed before finishing are never missed.
    const bool is_finishing = is_finishing_.load(std::memory_order_acquire);
    if (!take_batch()) {
      if (is_finishing) break;
      store_.work();
      nap();
      continue;
    }
    verify_batch();
    store_batch();
    store_.work();
  }
  is_done_.store(true, std::memory_order_release);
}

bool ImportLane::take_batch() {
  batch_.clear();
  Item item;
  while (batch_.size() < kBatch && items_.try_pop(item)) {
    batch_.push_back({item, SharedBytes::adopt(item.event)});
  }
  return !batch_.empty();
}

void ImportLane::verify_batch() {
  checks_.clear();
  for (const Pending& pending : batch_) {
    const PackedEventView event(pending.event.data());
    // What is refused without its signature needs no verification.
    const bool needs_signature =
        pending.item.origin == Origin::kUnverified && store_.check(event) == Verdict::kAccept;
    if (needs_signature) checks_.push_back({event, false});
  }
  verifier_->verify(checks_);
}

void ImportLane::store_batch() {
  std::size_t next_check = 0;
  for (const Pending& pending : batch_) {
    const PackedEventView event(pending.event.data());
    if (pending.item.origin == Origin::kForeignRequest) {
      (void)store_one(pending);
      continue;
    }
    Result result{pending.item.line, false, Verdict::kAccept, 0};
    if (pending.item.origin == Origin::kTrusted) {
      const storage::Store::PutResult stored = store_one(pending);
      result.verdict = stored.verdict;
      result.sequence = stored.sequence;
      give(result);
      continue;
    }
    const bool was_checked = next_check < checks_.size() &&
                             checks_[next_check].event.json().data() == event.json().data();
    if (was_checked && !checks_[next_check].is_valid) {
      result.is_signature_bad = true;
    } else {
      result.verdict = was_checked ? store_one(pending).verdict : store_.check(event);
    }
    if (was_checked) ++next_check;
    give(result);
  }
}

storage::Store::PutResult ImportLane::store_one(const Pending& pending) {
  const PackedEventView event(pending.event.data());
  while (true) {
    const auto result = pending.item.origin == Origin::kForeignRequest
                            ? store_.apply_foreign_request(event)
                            : store_.put(event);
    if (result.verdict != Verdict::kBusy) return result;
    store_.work();
    nap();
  }
}

void ImportLane::give(const Result& result) {
  while (!results_.try_push(result)) nap();
  results_.publish();
}

}  // namespace gyre::app
