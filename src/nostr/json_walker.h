// JsonWalker: a strict walk over JSON text (RFC 8259) that builds nothing and does not recurse.
//
// simdjson's On-Demand parser checks only what it is asked for. The walker checks the rest: values
// that nobody reads (unknown members of an event, elements behind the expected ones), and the whole
// of a message that was refused, to learn whether it was JSON at all and whom to answer.
#pragma once

#include <cstdint>
#include <string_view>

#include "nostr/json_string.h"

namespace gyre::nostr {

class JsonWalker {
 public:
  // Nesting that the walker keeps track of. Text that goes deeper is not JSON for it.
  static constexpr std::uint32_t kLevelsMax = 512;

  explicit JsonWalker(std::string_view text) : at_(text.data()), end_(at_ + text.size()) {}

  void skip_blanks();
  // The next character, or NUL, which no JSON value begins with, at the end of the text.
  [[nodiscard]] char peek() const { return at_ < end_ ? *at_ : '\0'; }
  // Steps over blanks and then over `expected`, if that is what stands there.
  [[nodiscard]] bool take(char expected);
  [[nodiscard]] const char* position() const { return at_; }
  [[nodiscard]] bool is_at_end() const { return at_ >= end_; }

  // Step over one whole value or string and the blanks before it. False if there is none; the
  // position is then meaningless. skip_value refuses more than `levels_max` containers inside each
  // other.
  [[nodiscard]] bool skip_value(std::uint32_t levels_max);
  [[nodiscard]] bool skip_string();

  // Most containers inside each other of the values passed so far.
  [[nodiscard]] std::uint32_t levels() const { return levels_; }

  // True if any string passed so far held half a surrogate pair.
  [[nodiscard]] bool has_lone_surrogate() const { return has_lone_surrogate_; }

 private:
  [[nodiscard]] bool skip_key();
  [[nodiscard]] bool skip_scalar();
  [[nodiscard]] bool skip_literal(std::string_view literal);

  const char* at_;
  const char* end_;
  std::uint32_t levels_ = 0;
  bool has_lone_surrogate_ = false;
};

}  // namespace gyre::nostr
