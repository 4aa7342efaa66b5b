// Access: who may read what. Gated kinds (NIP-04 messages and NIP-59 wraps by default) are served
// to their parties only, by the same rule in stored queries, live delivery and COUNT.
#pragma once

#include <cstdint>
#include <vector>

#include "gyre/base/bytes.h"
#include "gyre/nostr/filter.h"
#include "gyre/storage/query.h"

namespace gyre::relay {

class Access final : public storage::ReadAccess {
 public:
  Access() = default;
  // `gated_kinds` is sorted. `viewers`: the keys the connection has logged in with.
  Access(std::vector<std::uint16_t> gated_kinds, std::vector<Bytes32> viewers)
      : gated_kinds_(std::move(gated_kinds)), viewers_(std::move(viewers)) {}

  [[nodiscard]] bool may_read(nostr::PackedEventView event) const override;
  [[nodiscard]] std::span<const std::uint16_t> restricted_kinds() const override {
    return gated_kinds_;
  }
  [[nodiscard]] bool may_read_some_restricted() const override { return !viewers_.empty(); }

 private:
  std::vector<std::uint16_t> gated_kinds_;
  std::vector<Bytes32> viewers_;
};

// The rule itself: is one of `viewers` a party to this event? The author is, and whoever a `p` tag
// names; for gift wraps only the latter, since their author is a throw-away key.
[[nodiscard]] bool is_party(nostr::PackedEventView event, std::span<const Bytes32> viewers);

// The ephemeral wrap is gated along with the stored one.
[[nodiscard]] bool is_gated(std::uint16_t kind, std::span<const std::uint16_t> gated_kinds);

// True if the filter can match gated kinds only.
[[nodiscard]] bool wants_gated_only(const nostr::Filter& filter,
                                    std::span<const std::uint16_t> gated_kinds);

}  // namespace gyre::relay
