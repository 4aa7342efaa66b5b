#include "gyre/nostr/string_list.h"

#include <algorithm>

namespace gyre::nostr {

void StringList::sort(std::size_t begin, std::size_t end) {
  GYRE_ASSERT_CMP(begin, <=, end);
  GYRE_ASSERT_CMP(end, <=, items_.size());
  const auto is_before = [this](Item a, Item b) {
    return std::string_view(text_.data() + a.offset, a.bytes) <
           std::string_view(text_.data() + b.offset, b.bytes);
  };
  const auto first = items_.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto last = items_.begin() + static_cast<std::ptrdiff_t>(end);
  // What has been sorted once is sorted again by whoever writes it out.
  if (!std::is_sorted(first, last, is_before)) std::sort(first, last, is_before);
}

bool StringList::has_equal_items(const StringList& other) const {
  for (std::size_t i = 0; i < size(); ++i) {
    if ((*this)[i] != other[i]) return false;
  }
  return true;
}

}  // namespace gyre::nostr
