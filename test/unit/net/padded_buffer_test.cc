#include "net/padded_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "gyre/base/bytes.h"

namespace gyre::net {
namespace {

std::string text_of(PaddedBuffer& buffer) { return std::string(as_text(buffer.unread())); }

TEST(PaddedBuffer, HoldsNothingAtFirst) {
  PaddedBuffer buffer;
  EXPECT_TRUE(buffer.is_empty());
  EXPECT_EQ(buffer.held_bytes(), 0u);
}

TEST(PaddedBuffer, KeepsTheOrderOfWhatIsAppendedAndDropped) {
  PaddedBuffer buffer;
  buffer.append(as_bytes("abc"));
  buffer.drop_front(2);
  buffer.append(as_bytes("def"));
  EXPECT_EQ(text_of(buffer), "cdef");
  buffer.append(as_bytes(std::string(5000, 'x')));
  EXPECT_EQ(text_of(buffer), "cdef" + std::string(5000, 'x'));
  buffer.drop_front(5004);
  EXPECT_TRUE(buffer.is_empty());
}

TEST(PaddedBuffer, HasZerosBehindTheLastByte) {
  PaddedBuffer buffer;
  for (const std::size_t size : {0u, 1u, 255u, 256u, 4096u}) {
    buffer.append(as_bytes(std::string(size, 'x')));
    const std::uint8_t* const end = buffer.unread().data() + buffer.size();
    EXPECT_TRUE(std::all_of(end, end + PaddedBuffer::kPaddingBytes,
                            [](std::uint8_t byte) { return byte == 0; }));
  }
}

TEST(PaddedBuffer, GrowsWithWhatArrives) {
  PaddedBuffer buffer;
  std::size_t arrived = 0;
  for (int piece = 0; piece < 100; ++piece) {
    buffer.append(as_bytes(std::string(1000, 'x')));
    arrived += 1000;
    EXPECT_LE(buffer.held_bytes(), 2 * arrived + 512);
  }
  buffer.release();
  EXPECT_EQ(buffer.held_bytes(), 0u);
}

}  // namespace
}  // namespace gyre::net
