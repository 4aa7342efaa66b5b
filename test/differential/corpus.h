// Corpus and questions of the differential test, the same for each seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "differential/plain_event.h"
#include "differential/plain_filter.h"
#include "gyre/base/random.h"

namespace gyre::test {

using Question = std::vector<PlainFilter>;  // The filters of one REQ or COUNT.

class DifferentialCorpus {
 public:
  explicit DifferentialCorpus(std::uint64_t seed) : random_(seed) {}

  // Of many kinds and few authors, words and seconds, so that filters meet them often and ties are
  // common; some replace or delete others.
  [[nodiscard]] std::vector<PlainEvent> make_events(std::size_t count);
  [[nodiscard]] Question make_question(const std::vector<PlainEvent>& events);

 private:
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return random_.next_u64() % bound; }
  [[nodiscard]] bool chance(std::uint64_t percent) { return below(100) < percent; }
  [[nodiscard]] PlainEvent make_event(const std::vector<PlainEvent>& before);
  void add_references(PlainEvent& event, const std::vector<PlainEvent>& before);
  [[nodiscard]] PlainFilter make_filter(const std::vector<PlainEvent>& events);
  void add_tag_condition(PlainFilter& filter, const std::vector<PlainEvent>& events);
  void add_window(PlainFilter& filter);
  [[nodiscard]] const PlainEvent& some(const std::vector<PlainEvent>& events) {
    return events[below(events.size())];
  }

  SeededRandom random_;
};

}  // namespace gyre::test
