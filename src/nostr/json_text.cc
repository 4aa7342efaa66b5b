#include "gyre/nostr/json_text.h"

#include <simdjson.h>

#include <cstddef>

#include "nostr/json_block.h"
#include "nostr/json_escape.h"
#include "nostr/json_string.h"

namespace gyre::nostr {
namespace {

bool stands_for_itself(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\';
}

// How many bytes more than one the character takes.
std::size_t extra_bytes(char c) {
  if (stands_for_itself(c)) return 0;
  return short_letter(c) != '\0' ? 1 : 5;
}

char decode_hex_digit(char c) { return static_cast<char>(c <= '9' ? c - '0' : c - 'a' + 10); }

}  // namespace

std::size_t escaped_bytes(std::string_view text) {
  std::size_t bytes = text.size();
  const char* in = text.data();
  const char* const end = in + text.size();
  for (skip_plain(in, end); in < end; skip_plain(in, end)) bytes += extra_bytes(*in++);
  return bytes;
}

// What is left to read is never more than what is left to write, so the blocks stay inside however
// exactly the buffer was measured.
char* write_escaped(std::string_view text, char* out) {
  const char* in = text.data();
  const char* const end = in + text.size();
  for (copy_plain(in, end, out); in < end; copy_plain(in, end, out)) {
    if (stands_for_itself(*in)) {
      *out++ = *in++;
    } else {
      out = write_canonical_ascii(static_cast<unsigned char>(*in++), out);
    }
  }
  return out;
}

void append_escaped(std::string_view text, std::string& out) {
  const std::size_t before = out.size();
  out.resize(before + escaped_bytes(text));
  write_escaped(text, out.data() + before);
}

char* write_unescaped(std::string_view escaped, char* out) {
  const char* in = escaped.data();
  const char* const end = in + escaped.size();
  for (copy_plain(in, end, out); in < end; copy_plain(in, end, out)) {
    if (*in != '\\') {
      *out++ = *in++;
    } else if (end - in >= 6 && in[1] == 'u') {
      // Canonically only U+0000 to U+001F are written like this.
      *out++ = static_cast<char>(decode_hex_digit(in[4]) << 4 | decode_hex_digit(in[5]));
      in += 6;
    } else if (end - in >= 2) {
      const char letter = short_escape(in[1]);
      *out++ = letter != '\0' ? letter : in[1];
      in += 2;
    } else {
      break;
    }
  }
  return out;
}

std::string unescape(std::string_view escaped) {
  std::string text(escaped.size(), '\0');
  text.resize(static_cast<std::size_t>(write_unescaped(escaped, text.data()) - text.data()));
  return text;
}

std::size_t code_point_count(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
  return count;
}

bool is_valid_utf8(std::string_view text) {
  return simdjson::validate_utf8(text.data(), text.size());
}

}  // namespace gyre::nostr
