// ExpirySweep: finds the events whose expiration (NIP-40) has come, in slices.
//
// Each posting is looked at once, also of those that died before their time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "gyre/storage/directory.h"
#include "gyre/storage/posting_index.h"
#include "gyre/storage/term.h"

namespace gyre::storage {

class ExpirySweep {
 public:
  ExpirySweep(const PostingIndex& postings, const Directory& directory, Term expiry)
      : postings_(postings), directory_(directory), expiry_(expiry) {}

  // Appends to `out` the events alive whose expiration is <= now; looks at up to `budget` postings,
  // and returns true if there are more.
  bool step(std::int64_t now_s, std::size_t budget, std::vector<Sequence>& out);
  // An event with this expiration has come in. A clock that was set back lets in such whose time
  // had been swept already.
  void note_expiration(std::int64_t expiration_s);
  // Expirations up to here have been found.
  [[nodiscard]] std::int64_t swept_until_s() const { return swept_until_s_; }

 private:
  const PostingIndex& postings_;
  const Directory& directory_;
  const Term expiry_;
  std::int64_t swept_until_s_ = 0;
  // A sweep that ran out of its budget goes on behind this, up to until_s_.
  std::optional<PostingPlace> place_;
  std::int64_t until_s_ = 0;
};

}  // namespace gyre::storage
