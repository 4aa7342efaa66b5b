// TagList: the tags of an event (NIP-01): lists of one or more strings, unescaped.
//
// All tags lie in one StringList. clear() keeps the memory, so reading events into the same list
// allocates nothing once it has grown. Views live until the list is changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gyre/nostr/decode_error.h"
#include "gyre/nostr/string_list.h"

namespace gyre::nostr {

// One tag of a list.
class TagView {
 public:
  TagView(const StringList& items, std::size_t begin, std::size_t end)
      : items_(&items), begin_(begin), end_(end) {}

  [[nodiscard]] std::size_t size() const { return end_ - begin_; }
  [[nodiscard]] std::string_view operator[](std::size_t index) const {
    return (*items_)[begin_ + index];
  }
  [[nodiscard]] std::string_view name() const { return (*this)[0]; }
  // The second item, by which a filter finds the tag; "" if there is none.
  [[nodiscard]] std::string_view value() const { return size() > 1 ? (*this)[1] : ""; }
  [[nodiscard]] bool contains(std::string_view item) const;

 private:
  const StringList* items_;
  std::size_t begin_;
  std::size_t end_;
};

class TagList {
 public:
  // For walking all tags: for (const TagView tag : tags).
  class Iterator {
   public:
    Iterator(const TagList& tags, std::size_t index) : tags_(&tags), index_(index) {}
    TagView operator*() const { return (*tags_)[index_]; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const TagList* tags_;
    std::size_t index_;
  };

  TagList() = default;
  TagList(std::initializer_list<std::initializer_list<std::string_view>> tags);

  [[nodiscard]] std::size_t size() const { return ends_.size(); }
  [[nodiscard]] bool empty() const { return ends_.empty(); }
  [[nodiscard]] TagView operator[](std::size_t index) const {
    return {items_, index == 0 ? 0 : ends_[index - 1], ends_[index]};
  }
  [[nodiscard]] Iterator begin() const { return {*this, 0}; }
  [[nodiscard]] Iterator end() const { return {*this, size()}; }

  // Of all tags together.
  [[nodiscard]] std::size_t item_count() const { return items_.size(); }
  [[nodiscard]] std::size_t text_bytes() const { return items_.text_bytes(); }
  [[nodiscard]] const StringList& items() const { return items_; }

  void clear();
  // Requires: at least one item.
  void append(std::span<const std::string_view> items);
  void append(std::initializer_list<std::string_view> items) {
    append(std::span(items.begin(), items.size()));
  }
  // A tag made piece by piece: its items into items(), then end_tag(). Requires: at least one item.
  [[nodiscard]] StringList& items() { return items_; }
  void end_tag();

  // Puts the items behind the name of each tag in order of their bytes.
  void sort_values();

  // Index of the first tag of that name at or behind `from`, or size().
  [[nodiscard]] std::size_t find(std::string_view name, std::size_t from = 0) const;
  // Calls visit(TagView) for each tag of that name, in order.
  template <typename Visit>
  void for_each(std::string_view name, Visit visit) const {
    for (std::size_t i = find(name); i < size(); i = find(name, i + 1)) visit((*this)[i]);
  }
  // True if some tag of that name has one of the values.
  [[nodiscard]] bool contains_any(std::string_view name,
                                  std::span<const std::string_view> values) const;

  friend bool operator==(const TagList& a, const TagList& b) {
    return a.ends_ == b.ends_ && a.items_ == b.items_;
  }

 private:
  StringList items_;
  std::vector<std::uint32_t> ends_;  // For each tag, the index behind its last item.
};

// The views of all items, in the place of what `out` holds.
void copy_views(TagView tag, std::vector<std::string_view>& out);
void copy_views(const TagList& tags, std::vector<std::vector<std::string_view>>& out);

// JSON (RFC 8259), minified, strings in the canonical escaping (json_text.h).

// ["e","..."]: reads one tag and appends it. `json` holds the tag and perhaps white space.
DecodeError parse_tag(std::string_view json, TagList& tags);
// [["e","..."],...]: replaces what `tags` holds.
DecodeError parse_tags(std::string_view json, TagList& tags);

// Bytes that the write functions write, exactly.
[[nodiscard]] std::size_t json_bytes(TagView tag);
[[nodiscard]] std::size_t json_bytes(const TagList& tags);
// Writes to `out` and returns the end.
char* write_json(TagView tag, char* out);
char* write_json(const TagList& tags, char* out);
void append_json(TagView tag, std::string& out);
void append_json(const TagList& tags, std::string& out);

}  // namespace gyre::nostr
