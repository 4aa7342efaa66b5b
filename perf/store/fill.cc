#include "fill.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "../load/event_mix.h"
#include "../load/monotonic.h"
#include "gyre/nostr/client_message.h"

namespace gyre::store_bench {
namespace {

constexpr std::uint64_t kSeed = 1;
constexpr std::size_t kBatch = 512;  // Made ahead, so that making them is not measured.
constexpr std::int64_t kNotStored = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kPutsPerTurn = 64;  // As a busy shard takes in a turn.

double cpu_us(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

class Filler {
 public:
  Filler(OpenStore& store, std::uint64_t count, Expectations& expectations, PageReserve& reserve)
      : store_(store),
        count_(count),
        expectations_(expectations),
        reserve_(reserve),
        mix_(kSeed, count, {}) {}

  FillCost run() {
    const double process_begin_us = cpu_us(CLOCK_PROCESS_CPUTIME_ID);
    const double thread_begin_us = cpu_us(CLOCK_THREAD_CPUTIME_ID);
    const std::uint64_t begin_ns = load::monotonic_ns();
    for (std::uint64_t done = 0; done < count_; done += batch_.size()) {
      make_batch(std::min<std::uint64_t>(kBatch, count_ - done));
      reserve_.release(batch_.size() * kFileBytesPerEvent);
      put_batch();
      show_progress(done);
    }
    const double settle_begin_us = cpu_us(CLOCK_THREAD_CPUTIME_ID);
    store_.settle();
    put_us_ += cpu_us(CLOCK_THREAD_CPUTIME_ID) - settle_begin_us;
    const double thread_us = cpu_us(CLOCK_THREAD_CPUTIME_ID) - thread_begin_us;
    const double process_us = cpu_us(CLOCK_PROCESS_CPUTIME_ID) - process_begin_us;
    const auto events = static_cast<double>(count_);
    cost_.put_cpu_us = put_us_ / events;
    cost_.background_cpu_us = (process_us - thread_us) / events;
    cost_.busy_share =
        static_cast<double>(busy_ns_) / static_cast<double>(load::monotonic_ns() - begin_ns);
    if (is_terminal_) std::fputc('\n', stderr);
    return cost_;
  }

 private:
  void make_batch(std::size_t size) {
    batch_.resize(size);
    for (std::vector<std::uint8_t>& packed : batch_) {
      std::string json = mix_.make_next().json;
      cost_.json_bytes += json.size();
      const std::size_t bytes = json.size();
      json.resize(bytes + nostr::MessageParser::kPadding);
      const nostr::ClientMessage& message =
          parser_.parse_event(std::string_view(json).substr(0, bytes));
      if (message.kind != nostr::MessageKind::kEvent) load::fail("the mix made no event");
      const ByteSpan event = message.event.bytes();
      packed.assign(event.begin(), event.end());
    }
  }

  void put_batch() {
    for (std::size_t begin = 0; begin < batch_.size(); begin += kPutsPerTurn) {
      const std::size_t end = std::min(begin + kPutsPerTurn, batch_.size());
      changes_.clear();
      const double begin_us = cpu_us(CLOCK_THREAD_CPUTIME_ID);
      for (std::size_t i = begin; i < end; ++i) put(nostr::PackedEventView(batch_[i].data()));
      store_->work(storage::Store::CommitPace::kMayWait);
      const double turn_us = cpu_us(CLOCK_THREAD_CPUTIME_ID) - begin_us;
      put_us_ += turn_us;
      cost_.worst_turn_ms = std::max(cost_.worst_turn_ms, turn_us / 1e3);
      for (std::size_t i = begin; i < end; ++i) {
        if (changes_[i - begin] == kNotStored) continue;
        expectations_.note(nostr::PackedEventView(batch_[i].data()), changes_[i - begin]);
      }
    }
  }

  void put(nostr::PackedEventView event) {
    const std::uint64_t alive = store_->events_alive();
    storage::Store::PutResult result = store_->put(event);
    while (result.verdict == storage::Verdict::kBusy) {
      const std::uint64_t begin_ns = load::monotonic_ns();
      store_.work_and_wait();
      busy_ns_ += load::monotonic_ns() - begin_ns;
      result = store_->put(event);
    }
    switch (result.verdict) {
      case storage::Verdict::kAccept:
        changes_.push_back(static_cast<std::int64_t>(store_->events_alive() - alive));
        return;
      // An author reacts twice within a second, or two versions are of one second.
      case storage::Verdict::kDuplicate:
      case storage::Verdict::kStale: changes_.push_back(kNotStored); return;
      default:
        load::fail("an event was refused with verdict " +
                   std::to_string(static_cast<int>(result.verdict)));
    }
  }

  void show_progress(std::uint64_t done) {
    if (!is_terminal_ || done / 100'000 == (done + kBatch) / 100'000) return;
    std::fprintf(stderr, "\r%llu of %llu events ", static_cast<unsigned long long>(done),
                 static_cast<unsigned long long>(count_));
  }

  OpenStore& store_;
  const std::uint64_t count_;
  Expectations& expectations_;
  PageReserve& reserve_;
  load::EventMix mix_;
  nostr::MessageParser parser_{nostr::MessageLimits{}};
  std::vector<std::vector<std::uint8_t>> batch_;
  std::vector<std::int64_t> changes_;
  FillCost cost_;
  double put_us_ = 0;
  std::uint64_t busy_ns_ = 0;
  const bool is_terminal_ = isatty(STDERR_FILENO) != 0;
};

}  // namespace

FillCost fill(OpenStore& store, std::uint64_t count, Expectations& expectations,
              PageReserve& reserve) {
  return Filler(store, count, expectations, reserve).run();
}

Bytes32 busy_author(std::uint64_t count) {
  const load::EventMix mix(kSeed, count, {});
  Bytes32 author;
  std::copy(mix.signers().front().pubkey().begin(), mix.signers().front().pubkey().end(),
            author.bytes.begin());
  return author;
}

}  // namespace gyre::store_bench
