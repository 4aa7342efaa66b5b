#include "gyre/nostr/json_value.h"

#include "nostr/json_cursor.h"
#include "nostr/json_output.h"
#include "nostr/key_list.h"
#include "nostr/tag_reader.h"

namespace gyre::nostr {

char* write_quoted(std::string_view text, char* out) {
  JsonOutput output(out);
  output.put_quoted(text);
  return output.end();
}

DecodeError parse_quoted(std::string_view json, std::string& text) {
  return parse_whole(json, [&](JsonCursor& cursor) { return read_text(cursor, text); });
}

char* write_key(std::string_view name, char* out) {
  out = write_quoted(name, out);
  *out++ = ':';
  return out;
}

char* write_bool(bool value, char* out) {
  JsonOutput output(out);
  output.put(value ? std::string_view("true") : "false");
  return output.end();
}

DecodeError parse_bool(std::string_view json, bool& value) {
  return parse_whole(json, [&](JsonCursor& cursor) {
    return cursor.take_bool(value) ? DecodeError::kNone : DecodeError::kNotJson;
  });
}

DecodeError parse_hex(std::string_view json, std::span<std::uint8_t> out) {
  return parse_whole(json, [&](JsonCursor& cursor) { return read_hex(cursor, out); });
}

char* write_key_list(std::span<const Bytes32> keys, char* out) {
  JsonOutput output(out);
  put_key_list(output, keys);
  return output.end();
}

DecodeError read_key_list(JsonCursor& cursor, std::vector<Bytes32>& keys) {
  keys.clear();
  if (!cursor.take('[')) return DecodeError::kBadList;
  if (cursor.take(']')) return DecodeError::kNone;
  do {
    if (cursor.peek() != '"') return DecodeError::kBadList;
    const DecodeError error = read_hex(cursor, keys.emplace_back().bytes);
    if (error != DecodeError::kNone) return error;
  } while (cursor.take(','));
  return cursor.take(']') ? DecodeError::kNone : DecodeError::kNotJson;
}

DecodeError parse_key_list(std::string_view json, std::vector<Bytes32>& keys) {
  return parse_whole(json, [&](JsonCursor& cursor) { return read_key_list(cursor, keys); });
}

std::size_t string_list_bytes(const StringList& strings) {
  if (strings.empty()) return 2;
  return 1 + 3 * strings.size() + escaped_bytes(strings.text());
}

char* write_string_list(const StringList& strings, char* out) {
  JsonOutput output(out);
  if (strings.empty()) {
    output.put("[]");
  } else {
    put_tag(output, TagView(strings, 0, strings.size()));
  }
  return output.end();
}

DecodeError parse_string_list(std::string_view json, StringList& strings) {
  strings.clear();
  return parse_whole(json, [&](JsonCursor& cursor) { return read_strings(cursor, strings); });
}

}  // namespace gyre::nostr
