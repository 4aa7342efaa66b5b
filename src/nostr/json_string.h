// One string of a JSON text, read strictly (RFC 8259) and written in the canonical escaping of
// NIP-01 (gyre/nostr/json_text.h). Escapes are translated one by one; nothing is ever held decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gyre::nostr {

enum class StringVerdict : std::uint8_t {
  kGood,
  kHalfSurrogate,  // JSON by the grammar, but not text: it has no UTF-8 form (nips.md 01-J07).
  kBroken,         // Not JSON.
};

// Bytes that the functions below may read behind `text_end` and write behind their result, unless
// they say otherwise.
inline constexpr std::size_t kStringSlackBytes = 16;

struct StringCopy {
  StringVerdict verdict;
  const char* raw_end;  // The closing quote; meaningless if kBroken.
  char* out_end;        // Meaningful if kGood.
};

// `raw` is the first byte behind the opening quote of a string in a text that ends at `text_end`.
// Writes its canonical form to `out`, never more than the raw form has, plus kStringSlackBytes.
[[nodiscard]] StringCopy copy_canonical(const char* raw, const char* text_end, char* out);

struct StringSkip {
  StringVerdict verdict;
  const char* raw_end;
};

// The same without a copy, and without looking behind `text_end`.
[[nodiscard]] StringSkip skip_string(const char* raw, const char* text_end);

// If the string is exactly `digits` lower-case hex digits, however escaped, the place where they
// stand plainly (in the text or in `scratch`), else nullptr. `scratch` must have room for the raw
// form.
[[nodiscard]] const char* plain_hex(const char* raw, const char* text_end, std::size_t digits,
                                    char* scratch);

// Code points of the text that `escaped` (canonical) stands for.
[[nodiscard]] std::size_t decoded_code_point_count(std::string_view escaped);

// Writes one code point below U+0080 canonically; at most 6 bytes.
[[nodiscard]] char* write_canonical_ascii(std::uint32_t code_point, char* out);

}  // namespace gyre::nostr
