// Expectations: what queries must answer, told from the events as they are put.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "gyre/nostr/filter.h"
#include "gyre/nostr/packed_event.h"

namespace gyre::store_bench {

// A query whose answer is known: how many events it has, and the newest of them.
class Watch {
 public:
  static constexpr std::size_t kNewest = 100;

  Watch(std::string name, nostr::Filter filter)
      : name_(std::move(name)), filter_(std::move(filter)) {}

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const nostr::Filter& filter() const { return filter_; }

  // The event came in; `alive_change` is by how much more events are alive since.
  void note(nostr::PackedEventView event, std::int64_t alive_change);

  [[nodiscard]] std::uint64_t count() const { return static_cast<std::uint64_t>(count_); }
  // Ids, newest first, ties by lowest id. Right only if none of them has died.
  [[nodiscard]] std::vector<Bytes32> newest() const;

 private:
  struct Entry {
    std::uint64_t created_at;
    Bytes32 id;
  };
  std::string name_;
  nostr::Filter filter_;
  std::int64_t count_ = 0;
  std::deque<Entry> recent_;
};

class Expectations {
 public:
  // Kinds, an author and a tag of the mix that have many events at any size.
  explicit Expectations(const Bytes32& busy_author);

  void note(nostr::PackedEventView event, std::int64_t alive_change);

  [[nodiscard]] const std::vector<Watch>& pages() const { return pages_; }
  [[nodiscard]] const std::vector<Watch>& counts() const { return counts_; }
  // Spread over all that was put; none of them dies.
  [[nodiscard]] const std::vector<Bytes32>& sample_ids() const { return sample_ids_; }
  [[nodiscard]] std::uint64_t first_created_at() const { return first_created_at_; }
  [[nodiscard]] std::uint64_t last_created_at() const { return last_created_at_; }

 private:
  std::vector<Watch> pages_;
  std::vector<Watch> counts_;
  std::vector<Bytes32> sample_ids_;
  std::uint64_t noted_ = 0;
  std::uint64_t first_created_at_ = 0;
  std::uint64_t last_created_at_ = 0;
};

}  // namespace gyre::store_bench
