#include "net/send_queue.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "gyre/runtime/io.h"

namespace gyre::net {
namespace {

std::string text_of(std::span<const iovec> slices) {
  std::string text;
  for (const iovec& slice : slices) {
    text.append(static_cast<const char*>(slice.iov_base), slice.iov_len);
  }
  return text;
}

SharedBytes shared(std::string_view text) { return SharedBytes::copy_of(as_bytes(text)); }

std::string_view view(const SharedBytes& bytes) { return as_text(bytes.span()); }

TEST(SendQueue, GathersSmallPartsInOneSlice) {
  SendBuffers buffers;
  auto queue = buffers.take_queue();
  queue->append("one");
  queue->append("two");
  EXPECT_EQ(queue->queued_bytes(), 6u);
  const auto slices = queue->begin_send();
  EXPECT_EQ(slices.size(), 1u);
  EXPECT_EQ(text_of(slices), "onetwo");
  queue->end_send();
  EXPECT_TRUE(queue->is_empty());
  buffers.give_back(std::move(queue));
  EXPECT_EQ(buffers.lent_bytes(), 0u);
}

TEST(SendQueue, LeavesWhatIsInFlightAlone) {
  SendBuffers buffers;
  auto queue = buffers.take_queue();
  queue->append("first");
  const auto slices = queue->begin_send();
  queue->append("second");
  EXPECT_EQ(text_of(slices), "first");
  EXPECT_EQ(queue->bytes_in_flight(), 5u);
  queue->end_send();
  EXPECT_EQ(queue->queued_bytes(), 6u);
  EXPECT_EQ(text_of(queue->begin_send()), "second");
  queue->end_send();
  buffers.give_back(std::move(queue));
}

TEST(SendQueue, ReferencesSharedBodies) {
  SendBuffers buffers;
  auto queue = buffers.take_queue();
  const SharedBytes body = shared(std::string(5000, 'b'));
  queue->append("<");
  queue->append_shared(view(body).substr(1, 4000), body);
  queue->append(">");
  const auto slices = queue->begin_send();
  ASSERT_EQ(slices.size(), 3u);
  EXPECT_EQ(slices[1].iov_base, body.data() + 1);
  EXPECT_EQ(text_of(slices), "<" + std::string(4000, 'b') + ">");
  queue->end_send();
  buffers.give_back(std::move(queue));
}

TEST(SendQueue, TakesSmallChunksForSmallMessages) {
  SendBuffers buffers;
  auto queue = buffers.take_queue();
  const std::size_t before = buffers.lent_bytes();
  queue->expect(700);
  queue->append(std::string(700, 'a'));
  EXPECT_EQ(buffers.lent_bytes() - before, 1024u);
  auto other = buffers.take_queue();
  const std::size_t between = buffers.lent_bytes();
  other->expect(9000);
  other->append(std::string(9000, 'a'));
  EXPECT_EQ(buffers.lent_bytes() - between, 16u * 1024);
  buffers.give_back(std::move(queue));
  buffers.give_back(std::move(other));
  EXPECT_EQ(buffers.lent_bytes(), 0u);
}

TEST(SendQueue, BoundsOneSend) {
  SendBuffers buffers;
  auto queue = buffers.take_queue();
  const SharedBytes body = shared(std::string(3000, 'b'));
  for (int count = 0; count < 100; ++count) queue->append_shared(view(body), body);
  EXPECT_EQ(queue->begin_send().size(), runtime::Io::kSendSlicesMax);
  queue->end_send();
  const SharedBytes large = shared(std::string(SendQueue::kSendBytesMax + 1, 'l'));
  queue->append_shared(view(large), large);
  EXPECT_EQ(queue->begin_send().size(), 36u) << "the rest without the large one";
  queue->end_send();
  EXPECT_EQ(text_of(queue->begin_send()), view(large)) << "always a whole slice";
  queue->end_send();
  EXPECT_TRUE(queue->is_empty());
  buffers.give_back(std::move(queue));
}

TEST(SendQueue, SendsWhatWasAppendedInOrderWhateverTheSizes) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    SendBuffers buffers;
    auto queue = buffers.take_queue();
    std::string expected;
    std::string sent;
    for (int step = 0; step < 300; ++step) {
      const std::size_t size = random() % (random() % 8 == 0 ? 40'000 : 300);
      std::string text(size, '\0');
      for (char& c : text) c = "abcdefgh"[random() % 8];
      if (random() % 4 == 0) {
        const SharedBytes body = shared(text);
        queue->append_shared(view(body), body);
      } else {
        if (random() % 2 == 0) queue->expect(size);
        queue->append(text);
      }
      expected += text;
      if (queue->is_in_flight()) {
        if (random() % 2 == 0) queue->end_send();
      } else if (!queue->is_empty() && random() % 2 == 0) {
        sent += text_of(queue->begin_send());
      }
    }
    if (queue->is_in_flight()) queue->end_send();
    while (!queue->is_empty()) {
      sent += text_of(queue->begin_send());
      queue->end_send();
    }
    EXPECT_EQ(sent, expected);
    buffers.give_back(std::move(queue));
    EXPECT_EQ(buffers.lent_bytes(), 0u);
  }
}

TEST(SendQueue, ClearedGivesEverythingBack) {
  SendBuffers buffers;
  auto queue = buffers.take_queue();
  const SharedBytes body = shared(std::string(5000, 'b'));
  for (int count = 0; count < 20; ++count) {
    queue->append(std::string(3000, 'a'));
    queue->append_shared(view(body), body);
  }
  buffers.give_back(std::move(queue));
  EXPECT_EQ(buffers.lent_bytes(), 0u);
  auto again = buffers.take_queue();
  EXPECT_TRUE(again->is_empty());
  buffers.give_back(std::move(again));
}

}  // namespace
}  // namespace gyre::net
