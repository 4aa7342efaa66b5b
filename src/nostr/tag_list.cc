#include "gyre/nostr/tag_list.h"

#include <algorithm>

#include "gyre/base/assert.h"
#include "gyre/nostr/json_text.h"
#include "nostr/json_cursor.h"
#include "nostr/json_output.h"
#include "nostr/tag_reader.h"

namespace gyre::nostr {

bool TagView::contains(std::string_view item) const {
  for (std::size_t i = 0; i < size(); ++i) {
    if ((*this)[i] == item) return true;
  }
  return false;
}

TagList::TagList(std::initializer_list<std::initializer_list<std::string_view>> tags) {
  for (const std::initializer_list<std::string_view> tag : tags) append(tag);
}

void TagList::clear() {
  items_.clear();
  ends_.clear();
}

void TagList::append(std::span<const std::string_view> items) {
  for (const std::string_view item : items) items_.append(item);
  end_tag();
}

void TagList::end_tag() {
  GYRE_ASSERT_CMP(items_.size(), >, (ends_.empty() ? 0 : ends_.back()));
  ends_.push_back(static_cast<std::uint32_t>(items_.size()));
}

void TagList::sort_values() {
  std::size_t begin = 0;
  for (const std::uint32_t end : ends_) {
    items_.sort(begin + 1, end);
    begin = end;
  }
}

std::size_t TagList::find(std::string_view name, std::size_t from) const {
  std::size_t begin = from == 0 || from > size() ? 0 : ends_[from - 1];
  for (; from < size(); begin = ends_[from++]) {
    const std::string_view other = items_[begin];
    // Nearly all names are one letter, which is not worth a call.
    if (other.size() != name.size()) continue;
    if (name.empty() || (other[0] == name[0] && other.substr(1) == name.substr(1))) return from;
  }
  return size();
}

bool TagList::contains_any(std::string_view name, std::span<const std::string_view> values) const {
  for (std::size_t i = find(name); i < size(); i = find(name, i + 1)) {
    const TagView tag = (*this)[i];
    if (tag.size() > 1 && std::find(values.begin(), values.end(), tag[1]) != values.end()) {
      return true;
    }
  }
  return false;
}

void copy_views(TagView tag, std::vector<std::string_view>& out) {
  out.resize(tag.size());
  for (std::size_t i = 0; i < tag.size(); ++i) out[i] = tag[i];
}

void copy_views(const TagList& tags, std::vector<std::vector<std::string_view>>& out) {
  out.resize(tags.size());
  for (std::size_t i = 0; i < tags.size(); ++i) copy_views(tags[i], out[i]);
}

DecodeError read_strings(JsonCursor& cursor, StringList& items) {
  if (!cursor.take('[')) return DecodeError::kBadList;
  if (cursor.take(']')) return DecodeError::kNone;
  do {
    RawString string;
    if (cursor.peek() != '"') return DecodeError::kBadList;
    if (!cursor.take_string(string)) return DecodeError::kNotJson;
    if (!string.has_escape) {
      items.append(string.text);
      continue;
    }
    DecodeError error = DecodeError::kNone;
    items.append_with(string.text.size(), [&](char* out) {
      error = decode_string(string, out);
      return out;
    });
    if (error != DecodeError::kNone) return error;
  } while (cursor.take(','));
  return cursor.take(']') ? DecodeError::kNone : DecodeError::kNotJson;
}

DecodeError read_tag(JsonCursor& cursor, TagList& tags) {
  const std::size_t items_before = tags.items().size();
  const DecodeError error = read_strings(cursor, tags.items());
  if (error != DecodeError::kNone) {
    return error == DecodeError::kBadList ? DecodeError::kBadTags : error;
  }
  if (tags.items().size() == items_before) return DecodeError::kBadTags;
  tags.end_tag();
  return DecodeError::kNone;
}

DecodeError read_tags(JsonCursor& cursor, TagList& tags) {
  if (!cursor.take('[')) return DecodeError::kBadTags;
  if (cursor.take(']')) return DecodeError::kNone;
  do {
    if (const DecodeError error = read_tag(cursor, tags); error != DecodeError::kNone) {
      return error;
    }
  } while (cursor.take(','));
  return cursor.take(']') ? DecodeError::kNone : DecodeError::kNotJson;
}

DecodeError parse_tag(std::string_view json, TagList& tags) {
  return parse_whole(json, [&](JsonCursor& cursor) { return read_tag(cursor, tags); });
}

DecodeError parse_tags(std::string_view json, TagList& tags) {
  tags.clear();
  return parse_whole(json, [&](JsonCursor& cursor) { return read_tags(cursor, tags); });
}

std::size_t json_bytes(TagView tag) {
  // Two brackets, two quotes an item, commas between.
  std::size_t bytes = 2 + 3 * tag.size() - 1;
  for (std::size_t i = 0; i < tag.size(); ++i) bytes += escaped_bytes(tag[i]);
  return bytes;
}

std::size_t json_bytes(const TagList& tags) {
  if (tags.empty()) return 2;
  // Brackets around all and around each, commas between tags, quotes, commas between items.
  return 2 + 2 * tags.size() + (tags.size() - 1) + 2 * tags.item_count() +
         (tags.item_count() - tags.size()) + escaped_bytes(tags.items().text());
}

char* write_json(TagView tag, char* out) {
  JsonOutput output(out);
  put_tag(output, tag);
  return output.end();
}

char* write_json(const TagList& tags, char* out) {
  JsonOutput output(out);
  put_tags(output, tags);
  return output.end();
}

void append_json(TagView tag, std::string& out) {
  append_bytes(out, json_bytes(tag), [&](char* at) { return write_json(tag, at); });
}

void append_json(const TagList& tags, std::string& out) {
  append_bytes(out, json_bytes(tags), [&](char* at) { return write_json(tags, at); });
}

}  // namespace gyre::nostr
