#include "nostr/json_walker.h"

#include <bitset>

#include "gyre/base/assert.h"
#include "nostr/json_number.h"

namespace gyre::nostr {

void JsonWalker::skip_blanks() {
  while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
}

bool JsonWalker::take(char expected) {
  skip_blanks();
  if (peek() != expected) return false;
  ++at_;
  return true;
}

bool JsonWalker::skip_string() {
  if (!take('"')) return false;
  const StringSkip skip = nostr::skip_string(at_, end_);
  if (skip.verdict == StringVerdict::kBroken) return false;
  if (skip.verdict == StringVerdict::kHalfSurrogate) has_lone_surrogate_ = true;
  at_ = skip.raw_end + 1;
  return true;
}

bool JsonWalker::skip_key() { return skip_string() && take(':'); }

bool JsonWalker::skip_literal(std::string_view literal) {
  if (static_cast<std::size_t>(end_ - at_) < literal.size()) return false;
  if (std::string_view(at_, literal.size()) != literal) return false;
  at_ += literal.size();
  return true;
}

bool JsonWalker::skip_scalar() {
  switch (peek()) {
    case '"': return skip_string();
    case 't': return skip_literal("true");
    case 'f': return skip_literal("false");
    case 'n': return skip_literal("null");
    default: break;
  }
  at_ = skip_number(at_, end_);
  return at_ != nullptr;
}

bool JsonWalker::skip_value(std::uint32_t levels_max) {
  GYRE_ASSERT_CMP(levels_max, <=, kLevelsMax);
  std::bitset<kLevelsMax> is_object;
  std::uint32_t level = 0;
  for (;;) {
    skip_blanks();
    const char first = peek();
    bool is_complete = true;
    if (first == '[' || first == '{') {
      if (level == levels_max) return false;
      ++at_;
      is_object[level] = first == '{';
      if (level + 1 > levels_) levels_ = level + 1;
      if (take(first == '{' ? '}' : ']')) {
        is_complete = true;
      } else {
        if (first == '{' && !skip_key()) return false;
        ++level;
        is_complete = false;
      }
    } else if (!skip_scalar()) {
      return false;
    }
    // What ends with this value, ends with it; then either the whole is done or another follows.
    while (is_complete) {
      if (level == 0) return true;
      if (take(',')) {
        if (is_object[level - 1] && !skip_key()) return false;
        is_complete = false;
      } else if (take(is_object[level - 1] ? '}' : ']')) {
        --level;
      } else {
        return false;
      }
    }
  }
}

}  // namespace gyre::nostr
