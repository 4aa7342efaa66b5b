// Bytes as they might come from a damaged disk: anything at all, or a good event with some bytes
// changed. What check() lets through can be read by every function without leaving the bytes.

#include <fuzzer/FuzzedDataProvider.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "gyre/base/assert.h"
#include "gyre/nostr/filter.h"
#include "gyre/nostr/json_text.h"
#include "gyre/nostr/packed_event.h"
#include "gyre/nostr/verify.h"
#include "support/event_factory.h"

namespace gyre::nostr {
namespace {

void check_inside(std::string_view part, std::string_view whole) {
  GYRE_ASSERT(part.data() >= whole.data());
  GYRE_ASSERT(part.data() + part.size() <= whole.data() + whole.size());
}

void read_everything(PackedEventView event) {
  const std::string_view json = event.json();
  check_inside(json, as_text(event.bytes()));
  for (const std::string_view part : {event.id_hex(), event.pubkey_hex(), event.sig_hex(),
                                      event.tags_json(), event.content_json()}) {
    check_inside(part, json);
  }
  for (std::uint32_t i = 0; i < event.tag_count(); ++i) {
    const TagEntry entry = event.tag(i);
    if (!entry.has_value()) continue;
    check_inside(event.tag_value(entry), event.tags_json());
    static_cast<void>(unescape(event.tag_value(entry)));
  }
  std::size_t tag_count = 0;
  TagCursor cursor(event);
  while (cursor.next()) {
    check_inside(cursor.name(), event.tags_json());
    if (cursor.has_value()) check_inside(cursor.value(), event.tags_json());
    ++tag_count;
  }
  GYRE_ASSERT_CMP(tag_count, <=, event.tags_json().size());
  static_cast<void>(unescape(event.content_json()));
  static_cast<void>(event.d_tag());
  static_cast<void>(event.expiration());
  static_cast<void>(event.is_protected());
  static_cast<void>(compute_id(event));
  GYRE_ASSERT(to_hex(event.id().bytes) == event.id_hex());
  GYRE_ASSERT(to_hex(event.pubkey().bytes) == event.pubkey_hex());

  Filter filter;
  filter.authors = {event.pubkey()};
  filter.ids = {event.id()};
  GYRE_ASSERT(filter.matches(event));
  filter.tags = {{'t', {"x"}}, {'d', {"", "y"}}};
  static_cast<void>(filter.matches(event));
}

std::vector<std::uint8_t> consume_bytes(FuzzedDataProvider& input) {
  if (input.ConsumeBool()) return input.ConsumeRemainingBytes<std::uint8_t>();
  std::vector<std::uint8_t> bytes = test::pack_unsigned_event(
      {.tags = {{"t", "a\"b"}, {"d"}, {"expiration", "12"}, {"relay", "x", "y"}},
       .content = "\\n"});
  while (input.remaining_bytes() > 2) {
    const auto at = input.ConsumeIntegralInRange<std::size_t>(0, bytes.size() - 1);
    bytes[at] = input.ConsumeIntegral<std::uint8_t>();
  }
  return bytes;
}

}  // namespace
}  // namespace gyre::nostr

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gyre::nostr;
  FuzzedDataProvider input(data, size);
  const std::vector<std::uint8_t> bytes = consume_bytes(input);
  // A copy of exactly this size, so that a read too far is seen.
  const auto copy = std::make_unique_for_overwrite<std::uint8_t[]>(bytes.size());
  if (!bytes.empty()) std::memcpy(copy.get(), bytes.data(), bytes.size());
  const auto event = PackedEventView::check({copy.get(), bytes.size()});
  if (event) read_everything(*event);
  return 0;
}
