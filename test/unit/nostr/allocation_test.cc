// What allocates nothing: everything that writes to a buffer of the caller, and everything that
// reads into an object that has been read into before.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "gyre/nostr/address.h"
#include "gyre/nostr/event.h"
#include "gyre/nostr/event_binary.h"
#include "gyre/nostr/event_filter.h"
#include "gyre/nostr/json_value.h"
#include "support/allocation_counter.h"
#include "support/event_factory.h"

namespace gyre::nostr {
namespace {

// The second time is what counts: the first lets the objects grow.
template <typename Work>
void expect_none(const char* name, Work work) {
  work();
  EXPECT_EQ(test::allocations_of(work).count, 0u) << name;
}

TEST(Allocation, IsCounted) {
  EXPECT_EQ(test::allocations_of([] { std::string text(100, 'x'); }).count, 1u);
  EXPECT_GE(test::allocations_of([] { std::vector<int> numbers(100); }).bytes, 400u);
}

TEST(Allocation, EventsNeedNone) {
  const std::string json = test::sign_event(
      {.tags = {{"t", std::string(40, 't')}, {"e", std::string(64, 'a')}, {"q", "\"\n"}},
       .content = std::string(300, 'x') + "\"quoted\"\n" + std::string(300, 'y')});
  Event event;
  expect_none("parse", [&] { EXPECT_EQ(parse_event(json, event), DecodeError::kNone); });
  std::vector<char> text(2 * json.size());
  expect_none("write", [&] { EXPECT_LT(write_json(event, text.data()), &text.back()); });
  expect_none("canonical", [&] { EXPECT_LT(write_canonical(event, text.data()), &text.back()); });
  std::string out;
  expect_none("append", [&] {
    out.clear();
    append_json(event, out);
  });
  EXPECT_EQ(out, json);
  expect_none("id", [&] { EXPECT_TRUE(has_right_id(event)); });
  expect_none("signature", [&] { EXPECT_TRUE(has_valid_signature(event)); });
  expect_none("estimate", [&] { EXPECT_GT(estimate_json_bytes(event), 0u); });
  std::vector<std::uint8_t> bytes;
  expect_none("binary", [&] {
    bytes.clear();
    append_binary(event, bytes);
  });
  Event back;
  expect_none("parse binary", [&] { EXPECT_EQ(parse_binary(bytes, back), DecodeError::kNone); });
  std::vector<std::vector<std::string_view>> views;
  expect_none("views", [&] { copy_views(event.tags, views); });
}

TEST(Allocation, FiltersNeedNone) {
  const std::string key(64, 'a');
  const std::string json = "{\"ids\":[\"" + key + "\"],\"authors\":[\"" + key +
                           "\"],\"kinds\":[3,2,1],\"#e\":[\"" + key +
                           "\"],\"#t\":[\"z\",\"\\n\",\"a\"],\"since\":1,\"limit\":5}";
  EventFilter filter;
  expect_none("parse", [&] { EXPECT_EQ(parse_filter(json, filter), DecodeError::kNone); });
  expect_none("sort", [&] { sort(filter); });
  std::vector<char> text(2 * json.size());
  expect_none("write", [&] { EXPECT_LT(write_json(filter, text.data()), &text.back()); });
  const Event event;
  expect_none("match", [&] { EXPECT_FALSE(matches(filter, event)); });
  std::vector<EventFilter> filters;
  const std::string list = "[" + json + "," + json + "]";
  expect_none("parse list", [&] { EXPECT_EQ(parse_filters(list, filters), DecodeError::kNone); });
  expect_none("match list", [&] { EXPECT_FALSE(matches_any(filters, event)); });
}

TEST(Allocation, SmallValuesNeedNone) {
  const std::string text = std::string(500, 'x') + "\"\\\n";
  std::vector<char> buffer(2'000);
  expect_none("escape", [&] { EXPECT_LT(write_escaped(text, buffer.data()), &buffer.back()); });
  const std::string quoted = "\"" + std::string(500, 'x') + "\\n\\u0041\"";
  std::string back;
  expect_none("quoted", [&] { EXPECT_EQ(parse_quoted(quoted, back), DecodeError::kNone); });
  const std::string address_text = "30023:" + std::string(64, 'a') + ":d";
  Address address;
  expect_none("address", [&] {
    EXPECT_EQ(parse_address(address_text, address), DecodeError::kNone);
    EXPECT_LT(write_address(address, buffer.data()), &buffer.back());
  });
  StringList list;
  const std::string strings = "[\"" + std::string(50, 'a') + "\",\"\\t\"]";
  expect_none("strings", [&] { EXPECT_EQ(parse_string_list(strings, list), DecodeError::kNone); });
}

}  // namespace
}  // namespace gyre::nostr
