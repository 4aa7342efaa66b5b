#include "storage/packed_numbers.h"

#include <gtest/gtest.h>

#include "gyre/base/random.h"

namespace gyre::storage {
namespace {

TEST(PackedNumbers, GivesBackWhatWasPackedAtEveryWidth) {
  SeededRandom random(1);
  for (int width = 0; width <= 64; ++width) {
    const std::uint64_t largest = width == 0 ? 0 : ~std::uint64_t{0} >> (64 - width);
    const std::uint32_t bits = packed_bits(largest);
    std::vector<std::uint64_t> numbers(101);
    for (std::uint64_t& number : numbers) number = random.next_u64() & largest;
    numbers.front() = largest;
    numbers.back() = largest;
    std::vector<std::uint8_t> bytes;
    NumberPacker packer(bits, bytes);
    for (const std::uint64_t number : numbers) packer.add(number);
    packer.finish();
    ASSERT_EQ(bytes.size(), packed_bytes(numbers.size(), bits)) << width;
    bytes.insert(bytes.end(), 8, 0xff);  // What stands behind does not matter.
    const PackedNumbers packed(bytes.data(), bits);
    for (std::size_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(packed[i], numbers[i]) << width;
  }
}

TEST(PackedBits, AreAsFewAsTheLargestNeeds) {
  EXPECT_EQ(packed_bits(0), 0u);
  EXPECT_EQ(packed_bits(1), 1u);
  EXPECT_EQ(packed_bits(255), 8u);
  EXPECT_EQ(packed_bits((std::uint64_t{1} << 57) - 1), 57u);
  // Beyond, a number might lie across nine bytes.
  EXPECT_EQ(packed_bits(std::uint64_t{1} << 57), 64u);
}

}  // namespace
}  // namespace gyre::storage
