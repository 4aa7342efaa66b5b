#include "storage/crc32c.h"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "gyre/base/random.h"

namespace gyre::storage {
namespace {

using Function = std::uint32_t (*)(std::uint32_t, ByteSpan);

class Crc32c : public testing::TestWithParam<Function> {};

std::vector<std::uint8_t> random_bytes(std::size_t size) {
  SeededRandom random(size + 1);
  std::vector<std::uint8_t> bytes(size);
  random.fill(bytes);
  return bytes;
}

// RFC 3720, appendix B.4, and the check value of the catalogue of CRCs.
TEST_P(Crc32c, GivesThePublishedValues) {
  const Function crc = GetParam();
  EXPECT_EQ(crc(0, {}), 0u);
  EXPECT_EQ(crc(0, as_bytes("123456789")), 0xe3069283u);
  EXPECT_EQ(crc(0, std::vector<std::uint8_t>(32, 0x00)), 0x8a9136aau);
  EXPECT_EQ(crc(0, std::vector<std::uint8_t>(32, 0xff)), 0x62a8ab43u);
  std::vector<std::uint8_t> rising(32);
  std::iota(rising.begin(), rising.end(), std::uint8_t{0});
  EXPECT_EQ(crc(0, rising), 0x46dd794eu);
  const std::vector<std::uint8_t> falling(rising.rbegin(), rising.rend());
  EXPECT_EQ(crc(0, falling), 0x113fdb5cu);
}

TEST_P(Crc32c, ContinuesWhereItLeftOff) {
  const Function crc = GetParam();
  const auto bytes = random_bytes(100);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    const ByteSpan all = bytes;
    EXPECT_EQ(crc(crc(7, all.first(cut)), all.subspan(cut)), crc(7, all)) << cut;
  }
}

TEST_P(Crc32c, AgreesWithTheTablesAtEverySizeAndAlignment) {
  const auto bytes = random_bytes(96);
  for (std::size_t begin = 0; begin < 9; ++begin) {
    for (std::size_t size = 0; begin + size <= bytes.size(); ++size) {
      const ByteSpan part = ByteSpan(bytes).subspan(begin, size);
      EXPECT_EQ(GetParam()(42, part), crc32c_portable(42, part)) << begin << " " << size;
    }
  }
}

// Long ones go by several streams, of three widths.
TEST_P(Crc32c, AgreesWithTheTablesAtSizesOfEvents) {
  const auto bytes = random_bytes(4'000);
  for (std::size_t size = 0; size <= bytes.size(); size += 1 + size / 97) {
    const ByteSpan part = ByteSpan(bytes).last(size);
    EXPECT_EQ(GetParam()(42, part), crc32c_portable(42, part)) << size;
  }
}

TEST_P(Crc32c, ChangesWithEveryBitAndWithTheSeed) {
  auto bytes = random_bytes(64);
  const std::uint32_t before = GetParam()(1, bytes);
  EXPECT_NE(GetParam()(2, bytes), before);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const auto mask = static_cast<std::uint8_t>(1 << bit % 8);
    bytes[bit / 8] ^= mask;
    EXPECT_NE(GetParam()(1, bytes), before) << bit;
    bytes[bit / 8] ^= mask;
  }
}

INSTANTIATE_TEST_SUITE_P(Chosen, Crc32c, testing::Values(&crc32c));
INSTANTIATE_TEST_SUITE_P(Portable, Crc32c, testing::Values(&crc32c_portable));

}  // namespace
}  // namespace gyre::storage
