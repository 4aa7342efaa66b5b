#include "storage/posting_tally.h"

namespace gyre::storage {
namespace {

// The two halves of a product of 128 bits, one upon the other: every bit of both factors counts.
std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = Wide{a} * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

}  // namespace

PostingTally::Key PostingTally::Key::draw(Random& random) {
  Key key{};
  for (std::uint64_t& word : key.words) word = random.next_u64();
  return key;
}

// What is summed is folded once more: the upper bits of all that share a bucket are equal.
void PostingTally::apply(const RunPosting& posting, std::uint64_t factor) {
  const std::uint64_t print = fingerprint(posting);
  Sum& sum = sums_[print >> 52];
  sum.fingerprints += factor * fold(print ^ key_.words[1], key_.words[2]);
  sum.count += factor;
}

std::vector<std::uint32_t> PostingTally::differences(const PostingTally& other) const {
  std::vector<std::uint32_t> buckets;
  for (std::uint32_t bucket = 0; bucket < kBuckets; ++bucket) {
    if (!(sums_[bucket] == other.sums_[bucket])) buckets.push_back(bucket);
  }
  return buckets;
}

std::uint64_t PostingTally::fingerprint(const RunPosting& posting) const {
  const std::uint64_t left = fold(posting.term ^ key_.words[0], posting.created_at ^ key_.words[1]);
  return fold(left ^ key_.words[2], posting.sequence ^ key_.words[3]);
}

}  // namespace gyre::storage
