// JsonOutput: writes JSON to a buffer that is known to be large enough.
#pragma once

#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "gyre/base/bytes.h"
#include "gyre/nostr/json_text.h"
#include "gyre/nostr/tag_list.h"

namespace gyre::nostr {

class JsonOutput {
 public:
  explicit JsonOutput(char* out) : out_(out) {}

  void put(char c) { *out_++ = c; }
  void put(std::string_view text) {
    std::memcpy(out_, text.data(), text.size());
    out_ += text.size();
  }
  void put_quoted(std::string_view text) {
    put('"');
    out_ = write_escaped(text, out_);
    put('"');
  }
  void put_hex(ByteSpan bytes) {
    hex_encode(bytes, out_);
    out_ += 2 * bytes.size();
  }
  template <typename Integer>
  void put_number(Integer value) {
    out_ = std::to_chars(out_, out_ + 20, value).ptr;
  }
  [[nodiscard]] char* end() const { return out_; }

 private:
  char* out_;
};

inline constexpr std::array<std::uint64_t, 20> kPowersOfTen = [] {
  std::array<std::uint64_t, 20> powers{};
  std::uint64_t power = 1;
  for (std::uint64_t& value : powers) {
    value = power;
    power *= 10;
  }
  return powers;
}();

// Characters of a number in decimal.
[[nodiscard]] constexpr std::size_t decimal_digits(std::uint64_t value) {
  // 1233 / 4096 is a little more than log10(2): right, or one too many just below a power.
  const auto guess = static_cast<std::size_t>(std::bit_width(value | 1)) * 1233 >> 12;
  return guess + (value >= kPowersOfTen[guess] ? 1 : 0) + (value == 0 ? 1 : 0);
}

// The bytes that `write(char* out)` puts there and returns the end of, behind what `out` holds.
template <typename Write>
void append_bytes(std::string& out, std::size_t bytes, Write write) {
  const std::size_t before = out.size();
  out.resize(before + bytes);
  write(out.data() + before);
}

// `Output` has the functions of JsonOutput.
template <typename Output>
void put_tag(Output& out, TagView tag) {
  char before = '[';
  for (std::size_t i = 0; i < tag.size(); ++i) {
    out.put(before);
    out.put_quoted(tag[i]);
    before = ',';
  }
  out.put(']');
}

template <typename Output>
void put_tags(Output& out, const TagList& tags) {
  if (tags.empty()) {
    out.put("[]");
    return;
  }
  char before = '[';
  for (const TagView tag : tags) {
    out.put(before);
    put_tag(out, tag);
    before = ',';
  }
  out.put(']');
}

}  // namespace gyre::nostr
