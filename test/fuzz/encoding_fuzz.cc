// Texts that stand for bytes: bech32, entities, base64, hex, addresses, JSON values, dates. What is
// taken is written back, to the same text where there is only one.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gyre/base/assert.h"
#include "gyre/nostr/address.h"
#include "gyre/nostr/base64.h"
#include "gyre/nostr/bech32.h"
#include "gyre/nostr/entity.h"
#include "gyre/nostr/json_value.h"
#include "gyre/nostr/tag_list.h"
#include "gyre/nostr/timestamp.h"

namespace gyre::nostr {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string bech32_of(std::string_view prefix, ByteSpan bytes) {
  std::string out(bech32_chars(prefix.size(), bytes.size()), '\0');
  GYRE_ASSERT(write_bech32(prefix, bytes, out.data()) == out.data() + out.size());
  return out;
}

void check_entity(std::string_view text) {
  Entity entity;
  if (parse_entity(text, entity) != DecodeError::kNone) return;
  // Unknown parts are dropped, so only what was understood must come back.
  std::string written;
  GYRE_ASSERT(append_entity(entity, written) == DecodeError::kNone);
  Entity back;
  GYRE_ASSERT(parse_entity(written, back) == DecodeError::kNone);
  GYRE_ASSERT(back == entity);
}

void check_bech32(std::string_view text) {
  Bech32 result;
  if (parse_bech32(text, result) == DecodeError::kNone) {
    GYRE_ASSERT(bech32_of(result.prefix, result.bytes) == lower(text));
  }
  check_entity(text);
  // The input as the bytes of each entity, with a right checksum.
  for (const char* const prefix : {"npub", "note", "nprofile", "nevent", "naddr"}) {
    if (text.size() < 3'000) check_entity(bech32_of(prefix, as_bytes(text)));
  }
}

void check_base64(std::string_view text) {
  std::vector<std::uint8_t> bytes(base64_bytes_max(text.size()));
  if (const auto count = parse_base64(text, bytes.data())) {
    bytes.resize(*count);
    std::string again(base64_chars(bytes.size()), '\0');
    write_base64(bytes, again.data());
    GYRE_ASSERT(again == text);
  }
  std::string encoded(base64_chars(text.size()), '\0');
  write_base64(as_bytes(text), encoded.data());
  bytes.resize(base64_bytes_max(encoded.size()));
  GYRE_ASSERT(parse_base64(encoded, bytes.data()) == text.size());
  bytes.resize(text.size());
  GYRE_ASSERT(as_text(bytes) == text);
}

void check_hex(std::string_view text) {
  std::vector<std::uint8_t> bytes(text.size() / 2 + 1);
  const bool is_hex = hex_decode(text, bytes.data());
  GYRE_ASSERT_CMP(is_hex, ==, text.size() % 2 == 0 && is_lower_hex(text, text.size()));
  bytes.resize(text.size() / 2);
  if (is_hex) GYRE_ASSERT(to_hex(bytes) == text);
  std::vector<std::uint8_t> back(text.size());
  GYRE_ASSERT(hex_decode(to_hex(as_bytes(text)), back.data()));
  GYRE_ASSERT(as_text(back) == text);
}

void check_json_values(std::string_view text) {
  std::string escaped;
  append_escaped(text, escaped);
  GYRE_ASSERT_CMP(escaped.size(), ==, escaped_bytes(text));
  GYRE_ASSERT(unescape(escaped) == text);
  std::string back;
  if (is_valid_utf8(text)) {
    GYRE_ASSERT(parse_quoted('"' + escaped + '"', back) == DecodeError::kNone);
    GYRE_ASSERT(back == text);
  }
  static_cast<void>(unescape(text));
  static_cast<void>(parse_quoted(text, back));
  std::vector<Bytes32> keys;
  if (parse_key_list(text, keys) == DecodeError::kNone) {
    std::string out(key_list_bytes(keys.size()), '\0');
    GYRE_ASSERT(write_key_list(keys, out.data()) == out.data() + out.size());
  }
  TagList tags;
  if (parse_tags(text, tags) == DecodeError::kNone) {
    std::string out;
    append_json(tags, out);
    TagList again;
    GYRE_ASSERT(parse_tags(out, again) == DecodeError::kNone);
    GYRE_ASSERT(again == tags);
  }
}

void check_small_texts(std::string_view text) {
  Address address;
  if (parse_address(text, address) == DecodeError::kNone) {
    std::string out;
    append_address(address, out);
    GYRE_ASSERT(out == text);
  }
  if (const auto seconds = parse_timestamp(text)) {
    GYRE_ASSERT(parse_timestamp(timestamp_text(*seconds)) == seconds);
  }
}

}  // namespace
}  // namespace gyre::nostr

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gyre::nostr;
  const std::string_view text = gyre::as_text({data, size});
  check_bech32(text);
  check_base64(text);
  check_hex(text);
  check_json_values(text);
  check_small_texts(text);
  return 0;
}
