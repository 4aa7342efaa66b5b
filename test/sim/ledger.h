// Ledger: what became of the corpus' events, as the clients of a simulation know it.
//
// A time is a number that grows with everything a client does or hears; wall time is the clock's.
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/corpus.h"

namespace gyre::test {

using Moment = std::uint64_t;
inline constexpr Moment kNever = std::numeric_limits<Moment>::max();

// Something that must not be.
struct Violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Ledger {
 public:
  explicit Ledger(const Corpus& corpus) : corpus_(corpus), records_(corpus.size()) {}

  struct Record {
    Moment first_sent = kNever;
    Moment accepted = kNever;  // The first OK true, also as a duplicate.
    std::uint32_t send_count = 0;
  };

  [[nodiscard]] Moment tick() { return ++now_; }
  // From now on events may be refused with `error:`.
  void note_full_disk() { has_been_full_ = true; }
  [[nodiscard]] const Record& operator[](EventIndex index) const { return records_[index]; }
  [[nodiscard]] std::size_t accepted_count() const { return accepted_count_; }

  void note_sent(EventIndex index);
  // Throws unless an OK of this kind can be right. `was_login_needed`: the publisher was not logged
  // in as the author.
  void note_ok(EventIndex index, bool is_accepted, std::string_view prefix, bool was_login_needed,
               std::int64_t now_s);

  // Something that makes it dead was sent before, or its expiration has come.
  [[nodiscard]] bool may_be_dead(EventIndex index, Moment before, std::int64_t now_s) const;
  // Something that makes it dead was accepted before.
  [[nodiscard]] bool is_surely_dead(EventIndex index, Moment before) const;
  // It belongs into the store and stands there.
  [[nodiscard]] bool is_surely_stored(EventIndex index, Moment accepted_before, Moment alive_until,
                                      std::int64_t now_s) const;
  // It may stand in the store, for all the clients know.
  [[nodiscard]] bool may_be_stored(EventIndex index) const;

  [[nodiscard]] const Corpus& corpus() const { return corpus_; }
  [[nodiscard]] std::string describe(EventIndex index) const;

 private:
  const Corpus& corpus_;
  std::vector<Record> records_;
  Moment now_ = 0;
  std::size_t accepted_count_ = 0;
  bool has_been_full_ = false;
};

}  // namespace gyre::test
