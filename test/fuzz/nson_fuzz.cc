// NSON whose descriptors may lie. What is taken is what a reader of plain JSON sees, and single
// members agree with the whole.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "gyre/base/assert.h"
#include "gyre/nostr/event.h"
#include "gyre/nostr/nson.h"

namespace gyre::nostr {
namespace {

void check_members(std::string_view text, const Event& event) {
  const std::optional<NsonView> view = NsonView::open(text);
  GYRE_ASSERT(view.has_value());
  GYRE_ASSERT(view->id() == event.id);
  GYRE_ASSERT(view->pubkey() == event.pubkey);
  GYRE_ASSERT(view->sig() == event.sig);
  GYRE_ASSERT(view->created_at() == event.created_at);
  GYRE_ASSERT(view->kind() == event.kind);
  std::string content;
  GYRE_ASSERT(view->content(content) == DecodeError::kNone);
  GYRE_ASSERT(content == event.content);
}

void check(std::string_view text) {
  Event event;
  const DecodeError error = parse_nson(text, event);
  // A wrong id is found last: everything else has been believed by then.
  if (error == DecodeError::kNone || error == DecodeError::kWrongId) {
    Event plain;
    GYRE_ASSERT(parse_event(text, plain) == DecodeError::kNone);
    GYRE_ASSERT(plain == event);
    check_members(text, event);
  }
  if (const std::optional<NsonView> view = NsonView::open(text)) {
    std::string content;
    static_cast<void>(view->content(content));
    static_cast<void>(view->kind());
  }
  Event either;
  static_cast<void>(parse_nson_or_json(text, either));
}

}  // namespace
}  // namespace gyre::nostr

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A copy of exactly this size, so that a read too far is seen.
  const auto copy = std::make_unique_for_overwrite<char[]>(size);
  std::copy(data, data + size, copy.get());
  gyre::nostr::check({copy.get(), size});
  return 0;
}
