// PostingTally: compares two sets of postings that are far too large to be kept, in a pass over
// each.
//
// Both are summed up by keyed fingerprints, in 4096 buckets, chosen by fingerprint too, so that
// they are even however the terms are spread. Sums that agree mean sets that agree: a difference
// slips through by a chance of 2^-64, and the key is drawn anew for each check. Where sums differ,
// a second pass looks at the few buckets that do.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "gyre/base/random.h"
#include "storage/posting_block.h"

namespace gyre::storage {

class PostingTally {
 public:
  static constexpr std::uint32_t kBuckets = 4096;

  struct Key {
    std::uint64_t words[4];
    [[nodiscard]] static Key draw(Random& random);
  };
  explicit PostingTally(const Key& key) : key_(key), sums_(kBuckets) {}

  void add(const RunPosting& posting) { apply(posting, 1); }
  // Takes out what was added, or will be.
  void subtract(const RunPosting& posting) { apply(posting, ~std::uint64_t{0}); }

  [[nodiscard]] std::uint32_t bucket_of(const RunPosting& posting) const {
    return static_cast<std::uint32_t>(fingerprint(posting) >> 52);
  }
  // Buckets in which this one and `other`, of the same key, differ.
  [[nodiscard]] std::vector<std::uint32_t> differences(const PostingTally& other) const;

 private:
  struct Sum {
    std::uint64_t fingerprints = 0;
    std::uint64_t count = 0;
    friend bool operator==(const Sum&, const Sum&) = default;
  };
  [[nodiscard]] std::uint64_t fingerprint(const RunPosting& posting) const;
  void apply(const RunPosting& posting, std::uint64_t factor);

  Key key_;
  std::vector<Sum> sums_;
};

}  // namespace gyre::storage
