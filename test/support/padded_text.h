// Text followed by exactly the bytes that MessageParser may read behind it, on the heap, so that
// AddressSanitizer sees a read too far.
#pragma once

#include <cstring>
#include <memory>
#include <string_view>

#include "gyre/nostr/client_message.h"

namespace gyre::test {

class PaddedText {
 public:
  explicit PaddedText(std::string_view text, char padding = '\0')
      : size_(text.size()), bytes_(new char[text.size() + nostr::MessageParser::kPadding]) {
    if (!text.empty()) std::memcpy(bytes_.get(), text.data(), text.size());
    std::memset(bytes_.get() + text.size(), padding, nostr::MessageParser::kPadding);
  }

  [[nodiscard]] std::string_view view() const { return {bytes_.get(), size_}; }

 private:
  std::size_t size_;
  std::unique_ptr<char[]> bytes_;
};

}  // namespace gyre::test
