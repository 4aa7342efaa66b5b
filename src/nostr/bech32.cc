#include "gyre/nostr/bech32.h"

#include <array>

#include "gyre/base/assert.h"

namespace gyre::nostr {
namespace {

constexpr std::size_t kChecksumChars = 6;
constexpr std::uint8_t kNoValue = 0xff;

constexpr std::array<std::uint8_t, 256> kValues = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNoValue);
  for (std::uint8_t i = 0; i < kBech32Alphabet.size(); ++i) {
    values[static_cast<std::uint8_t>(kBech32Alphabet[i])] = i;
  }
  return values;
}();

// The checksum of BIP-173: a BCH code over GF(32), fed five bits at a time.
class Checksum {
 public:
  explicit Checksum(std::string_view prefix) {
    for (const char c : prefix) add(static_cast<std::uint8_t>(c) >> 5);
    add(0);
    for (const char c : prefix) add(static_cast<std::uint8_t>(c) & 31);
  }
  void add(std::uint32_t value) {
    static constexpr std::array<std::uint32_t, 5> kGenerator = {
        0x3b6a'57b2, 0x2650'8e6d, 0x1ea1'19fa, 0x3d42'33dd, 0x2a14'62b3};
    const std::uint32_t top = state_ >> 25;
    state_ = (state_ & 0x01ff'ffff) << 5 ^ value;
    for (std::uint32_t i = 0; i < kGenerator.size(); ++i) {
      if ((top >> i & 1) != 0) state_ ^= kGenerator[i];
    }
  }
  [[nodiscard]] std::uint32_t state() const { return state_; }

 private:
  std::uint32_t state_ = 1;
};

bool is_prefix_char(char c) { return c >= 33 && c <= 126 && !(c >= 'A' && c <= 'Z'); }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool has_mixed_case(std::string_view text) {
  bool has_upper = false;
  bool has_lower = false;
  for (const char c : text) {
    has_upper |= c >= 'A' && c <= 'Z';
    has_lower |= c >= 'a' && c <= 'z';
  }
  return has_upper && has_lower;
}

// Five bits a value to eight bits a byte; what is left over must be less than five zero bits.
DecodeError join_values(std::string_view data, std::vector<std::uint8_t>& bytes) {
  // At once: it may be a secret, and a vector that grows leaves copies behind.
  bytes.reserve(data.size() * 5 / 8);
  std::uint32_t bits = 0;
  std::uint32_t bit_count = 0;
  for (const char c : data) {
    bits = bits << 5 | kValues[static_cast<std::uint8_t>(lower(c))];
    bit_count += 5;
    if (bit_count < 8) continue;
    bit_count -= 8;
    bytes.push_back(static_cast<std::uint8_t>(bits >> bit_count));
    bits &= (1u << bit_count) - 1;
  }
  return bit_count < 5 && bits == 0 ? DecodeError::kNone : DecodeError::kBadPadding;
}

}  // namespace

char* write_bech32(std::string_view prefix, ByteSpan bytes, char* out) {
  GYRE_ASSERT(!prefix.empty());
  for (const char c : prefix) {
    GYRE_ASSERT(is_prefix_char(c));
    *out++ = c;
  }
  *out++ = '1';
  Checksum checksum(prefix);
  const auto put = [&](std::uint32_t value) {
    checksum.add(value);
    *out++ = kBech32Alphabet[value];
  };
  std::uint32_t bits = 0;
  std::uint32_t bit_count = 0;
  for (const std::uint8_t byte : bytes) {
    bits = (bits << 8 | byte) & 0xfff;
    for (bit_count += 8; bit_count >= 5; bit_count -= 5) put(bits >> (bit_count - 5) & 31);
  }
  if (bit_count != 0) put(bits << (5 - bit_count) & 31);
  for (std::size_t i = 0; i < kChecksumChars; ++i) checksum.add(0);
  const std::uint32_t sum = checksum.state() ^ 1;
  for (std::uint32_t i = 0; i < kChecksumChars; ++i) {
    *out++ = kBech32Alphabet[sum >> (5 * (5 - i)) & 31];
  }
  return out;
}

DecodeError parse_bech32(std::string_view text, Bech32& result) {
  result.prefix.clear();
  result.bytes.clear();
  if (text.size() > kBech32CharsMax) return DecodeError::kTooLong;
  if (has_mixed_case(text)) return DecodeError::kBadCharacter;
  const std::size_t separator = text.rfind('1');
  if (separator == std::string_view::npos || separator == 0) return DecodeError::kBadPrefix;
  for (const char c : text.substr(0, separator)) {
    if (!is_prefix_char(lower(c))) return DecodeError::kBadCharacter;
    result.prefix += lower(c);
  }
  const std::string_view data = text.substr(separator + 1);
  if (data.size() < kChecksumChars) return DecodeError::kTooShort;
  Checksum checksum(result.prefix);
  for (const char c : data) {
    const std::uint8_t value = kValues[static_cast<std::uint8_t>(lower(c))];
    if (value == kNoValue) return DecodeError::kBadCharacter;
    checksum.add(value);
  }
  if (checksum.state() != 1) return DecodeError::kBadChecksum;
  return join_values(data.substr(0, data.size() - kChecksumChars), result.bytes);
}

}  // namespace gyre::nostr
