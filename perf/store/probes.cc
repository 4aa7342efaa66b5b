#include "probes.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "../load/monotonic.h"
#include "gyre/storage/query.h"

namespace gyre::store_bench {
namespace {

class Everyone final : public storage::ReadAccess {
 public:
  [[nodiscard]] bool may_read(nostr::PackedEventView) const override { return true; }
  [[nodiscard]] std::span<const std::uint16_t> restricted_kinds() const override { return {}; }
  [[nodiscard]] bool may_read_some_restricted() const override { return true; }
};

// Times `operation` of 0 to count - 1; a first, unmeasured round warms what it touches.
double median_us(std::size_t count, const std::function<void(std::size_t)>& operation) {
  std::vector<std::uint64_t> times_ns;
  for (std::size_t i = 0; i < count; ++i) operation(i);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t begin_ns = load::monotonic_ns();
    operation(i);
    times_ns.push_back(load::monotonic_ns() - begin_ns);
  }
  std::nth_element(times_ns.begin(), times_ns.begin() + static_cast<std::ptrdiff_t>(count / 2),
                   times_ns.end());
  return static_cast<double>(times_ns[count / 2]) / 1e3;
}

class Prober {
 public:
  Prober(OpenStore& store, const Expectations& expectations)
      : store_(store), expectations_(expectations) {}

  std::vector<Probe> run() {
    probe_ids();
    for (const Watch& watch : expectations_.pages()) probe_page(watch);
    probe_deep_page();
    for (const Watch& watch : expectations_.counts()) probe_count(watch);
    return std::move(probes_);
  }

 private:
  std::vector<Bytes32> find(const nostr::Filter& filter, std::uint64_t limit) {
    storage::Scan scan(store_->sources(), {&filter, 1}, {{limit}, limit}, access_,
                       store_.clock().unix_s());
    std::vector<Bytes32> ids;
    while (true) {
      std::uint64_t budget = 1'000'000'000;
      storage::Sequence sequence = 0;
      nostr::PackedEventView event;
      if (scan.next(budget, sequence, event) != storage::Scan::Step::kEvent) return ids;
      ids.push_back(event.id());
    }
  }

  void probe_ids() {
    const std::vector<Bytes32>& known = expectations_.sample_ids();
    probes_.push_back({"known_id", median_us(known.size(), [&](std::size_t i) {
                         nostr::Filter filter;
                         filter.ids = {known[i]};
                         if (find(filter, 1) != filter.ids) load::fail("an event is not found");
                       })});
    probes_.push_back({"unknown_id", median_us(known.size(), [&](std::size_t i) {
                         nostr::Filter filter;
                         Bytes32 id = known[i];
                         id.bytes[31] ^= 1;
                         filter.ids = {id};
                         if (!find(filter, 1).empty()) load::fail("an unknown id is found");
                       })});
  }

  void probe_page(const Watch& watch) {
    const std::vector<Bytes32> expected = watch.newest();
    probes_.push_back({"newest_100_by_" + watch.name(), median_us(200, [&](std::size_t) {
                         if (find(watch.filter(), Watch::kNewest) != expected) {
                           load::fail("newest 100 by " + watch.name() + " are wrong");
                         }
                       })});
  }

  // Pages anywhere in the past, of all kinds.
  void probe_deep_page() {
    const std::uint64_t first = expectations_.first_created_at();
    const std::uint64_t span = expectations_.last_created_at() - first;
    probes_.push_back({"deep_page_of_100", median_us(200, [&](std::size_t i) {
                         nostr::Filter filter = expectations_.pages().front().filter();
                         filter.until = static_cast<std::int64_t>(first + span * (100 + i) / 400);
                         if (find(filter, Watch::kNewest).size() != Watch::kNewest) {
                           load::fail("a deep page is not full");
                         }
                       })});
  }

  void probe_count(const Watch& watch) {
    probes_.push_back({"count_" + watch.name(), median_us(200, [&](std::size_t) {
                         const std::optional<std::uint64_t> count =
                             store_->count(watch.filter(), access_, store_.clock().unix_s());
                         if (!count) load::fail("count of " + watch.name() + " needs a scan");
                         if (*count != watch.count()) {
                           load::fail("count of " + watch.name() + " is wrong");
                         }
                       })});
  }

  OpenStore& store_;
  const Expectations& expectations_;
  Everyone access_;
  std::vector<Probe> probes_;
};

}  // namespace

std::vector<Probe> probe(OpenStore& store, const Expectations& expectations) {
  return Prober(store, expectations).run();
}

}  // namespace gyre::store_bench
