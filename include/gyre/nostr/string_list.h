// StringList: a list of texts in one piece of memory.
//
// A tag with its items, the values of a filter, any JSON array of strings. Items are plain text,
// unescaped UTF-8 as a rule; the list does not look at them. clear() keeps the memory, so that a
// list which is used again allocates nothing once it has grown.
//
// Holds at most 2^32 - 1 bytes of text. Views that it returns live until it is changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "gyre/base/assert.h"

namespace gyre::nostr {

class StringList {
 public:
  static constexpr std::size_t kTextBytesMax = 0xffff'ffff;

  StringList() = default;
  StringList(std::initializer_list<std::string_view> items) {
    for (const std::string_view item : items) append(item);
  }

  [[nodiscard]] std::size_t size() const { return items_.size(); }
  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] std::string_view operator[](std::size_t index) const {
    const Item item = items_[index];
    return {text_.data() + item.offset, item.bytes};
  }
  // Of all items together.
  [[nodiscard]] std::size_t text_bytes() const { return text_.size(); }
  // All items, one behind the other in the order in which they were appended.
  [[nodiscard]] std::string_view text() const { return text_; }

  void clear() {
    text_.clear();
    items_.clear();
  }
  void append(std::string_view item) {
    GYRE_ASSERT_CMP(item.size(), <=, kTextBytesMax - text_.size());
    items_.push_back({static_cast<std::uint32_t>(text_.size()),  //
                      static_cast<std::uint32_t>(item.size())});
    text_.append(item);
  }
  // Appends what `write(char* out)` puts there; it returns the end and may use `bytes_max`.
  template <typename Write>
  void append_with(std::size_t bytes_max, Write write) {
    GYRE_ASSERT_CMP(bytes_max, <=, kTextBytesMax - text_.size());
    const std::size_t offset = text_.size();
    text_.resize(offset + bytes_max);
    text_.resize(static_cast<std::size_t>(write(text_.data() + offset) - text_.data()));
    items_.push_back({static_cast<std::uint32_t>(offset),  //
                      static_cast<std::uint32_t>(text_.size() - offset)});
  }
  // Puts the items from `begin` to `end` in order of their bytes. The text stays where it is.
  void sort(std::size_t begin, std::size_t end);

  // By the items, one by one.
  friend bool operator==(const StringList& a, const StringList& b) {
    return a.size() == b.size() && a.has_equal_items(b);
  }

 private:
  struct Item {
    std::uint32_t offset;
    std::uint32_t bytes;
  };

  [[nodiscard]] bool has_equal_items(const StringList& other) const;

  std::string text_;
  std::vector<Item> items_;
};

}  // namespace gyre::nostr
