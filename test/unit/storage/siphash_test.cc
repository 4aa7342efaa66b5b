#include "storage/siphash.h"

#include <vector>

#include <gtest/gtest.h>

namespace gyre::storage {
namespace {

// The key 00 01 ... 0f of the reference vectors.
constexpr std::uint64_t kKey0 = 0x0706050403020100;
constexpr std::uint64_t kKey1 = 0x0f0e0d0c0b0a0908;

std::vector<std::uint8_t> counting_bytes(std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(i);
  return bytes;
}

std::uint64_t hash(ByteSpan bytes) {
  SipHash24 hash(kKey0, kKey1);
  hash.absorb(bytes);
  return hash.finish();
}

TEST(SipHash24, AgreesWithTheReferenceVectors) {
  // vectors_sip64 of the reference implementation, as numbers: hashes of 00 01 02 ... of length n.
  constexpr std::uint64_t kVectors[] = {
      0x726fdb47dd0e0e31, 0x74f839c593dc67fd, 0x0d6c8009d9a94f5a, 0x85676696d7fb7e2d,
      0xcf2794e0277187b7, 0x18765564cd99a68d, 0xcbc9466e58fee3ce, 0xab0200f58b01d137,
      0x93f5f5799a932462, 0x9e0082df0ba9e4b0, 0x7a5dbbc594ddb9f3, 0xf4b32f46226bada7,
      0x751e8fbc860ee5fb, 0x14ea5627c0843d90, 0xf723ca908e7af2ee, 0xa129ca6149be45e5,
  };
  for (std::size_t length = 0; length < std::size(kVectors); ++length) {
    EXPECT_EQ(hash(counting_bytes(length)), kVectors[length]) << length;
  }
  // And the last of the 64.
  EXPECT_EQ(hash(counting_bytes(63)), 0x958a324ceb064572u);
}

TEST(SipHash24, DoesNotCareWhereItsInputIsCut) {
  const std::vector<std::uint8_t> bytes = counting_bytes(41);
  const std::uint64_t whole = hash(bytes);
  for (std::size_t first = 0; first <= bytes.size(); ++first) {
    for (std::size_t second = first; second <= bytes.size(); ++second) {
      SipHash24 cut(kKey0, kKey1);
      cut.absorb(ByteSpan(bytes).first(first));
      cut.absorb(ByteSpan(bytes).subspan(first, second - first));
      cut.absorb(ByteSpan(bytes).subspan(second));
      ASSERT_EQ(cut.finish(), whole) << first << ' ' << second;
    }
  }
}

TEST(SipHash24, DependsOnBothHalvesOfTheKey) {
  SipHash24 other0(kKey0 ^ 1, kKey1);
  SipHash24 other1(kKey0, kKey1 ^ 1);
  const std::uint64_t hash0 = other0.finish();
  const std::uint64_t hash1 = other1.finish();
  EXPECT_NE(hash0, hash({}));
  EXPECT_NE(hash1, hash({}));
  EXPECT_NE(hash0, hash1);
}

}  // namespace
}  // namespace gyre::storage
