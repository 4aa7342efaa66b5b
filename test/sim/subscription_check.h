// SubscriptionCheck: one REQ, and whether what came of it is what should.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/corpus.h"
#include "sim/ledger.h"

namespace gyre::test {

struct FilterLimits {
  std::uint64_t limit_default = 500;
  std::uint64_t limit_max = 5000;
  bool may_miss_stored = false;  // The disk fails at times; then events are left out.
};

class SubscriptionCheck {
 public:
  // `keys`: those the client has logged in with.
  SubscriptionCheck(Ledger& ledger, std::vector<Corpus::FilterText> filters, FilterLimits limits,
                    std::vector<std::uint32_t> keys, std::int64_t now_s);

  // Each throws if it must not be. `keys` are the client's by now.
  void take_event(EventIndex index, const std::vector<std::uint32_t>& keys);
  void take_eose(std::int64_t now_s);
  // Everything has arrived that was on its way.
  void check_settled() const;

  // The answers of this REQ and of another one of the same id cannot be told apart: until
  // sharpen().
  void blur() { is_blurred_ = has_unclear_start_ = true; }
  void sharpen() { is_blurred_ = false; }

  [[nodiscard]] bool has_eose() const { return eose_ != kNever; }
  [[nodiscard]] bool matches(EventIndex index) const;
  [[nodiscard]] bool is_for_gated_only() const;
  [[nodiscard]] const std::vector<std::uint32_t>& keys() const { return keys_; }
  [[nodiscard]] std::string to_string() const;

 private:
  void take_stored(EventIndex index);
  [[nodiscard]] std::uint64_t limit_of(const nostr::Filter& filter) const;
  struct Given {
    std::uint64_t count = 0;
    std::uint64_t last_created_at = 0;
  };
  [[nodiscard]] bool is_within_limits(nostr::PackedEventView event);
  static bool take_one(Given& given, std::uint64_t limit, bool is_exact, std::uint64_t created_at);
  [[nodiscard]] bool was_delivered(EventIndex index) const;
  [[nodiscard]] bool must_have_been_stored(EventIndex index) const;
  [[nodiscard]] bool must_have_been_live(EventIndex index) const;
  [[nodiscard]] bool is_quiet_vanish(EventIndex index) const;
  [[nodiscard]] bool may_be_cut_before(EventIndex index) const;
  [[noreturn]] void wrong(const std::string& what, EventIndex index) const;

  Ledger& ledger_;
  const std::vector<Corpus::FilterText> filters_;
  const FilterLimits limits_;
  std::vector<Given> given_;  // By each filter, and in all.
  const std::vector<std::uint32_t> keys_;
  const Moment requested_;
  const std::int64_t requested_s_;
  Moment eose_ = kNever;
  std::int64_t eose_s_ = 0;
  bool is_blurred_ = false;
  bool has_unclear_start_ = false;
  std::vector<EventIndex> stored_;        // As they came.
  std::vector<std::uint32_t> delivered_;  // By event: how often.
};

}  // namespace gyre::test
