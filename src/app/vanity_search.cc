#include "app/vanity_search.h"

#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "app/key_text.h"
#include "gyre/base/assert.h"
#include "gyre/nostr/bech32.h"
#include "gyre/nostr/key_search.h"

namespace gyre::app {
namespace {

constexpr std::string_view kNpubPrefix = "npub";
constexpr std::string_view kHexDigits = "0123456789abcdef";

// Characters behind npub1: 52 that carry the key and six of checksum.
constexpr std::size_t kNpubKeyChars = 52;
constexpr std::size_t kNpubChars = kNpubKeyChars + 6;
constexpr std::size_t kHexChars = 64;

// The last of the 52 carries one bit of the key and four of nothing.
constexpr std::string_view kLastKeyChars = "qs";

// Between two looks at whether to stop.
constexpr std::uint64_t kBatch = 64;

// The five bits that character `index` of an npub stands for. Only for the 51 that are full.
std::uint8_t key_bits(const Bytes32& key, std::size_t index) {
  const std::size_t bit = 5 * index;
  const std::uint32_t two_bytes = static_cast<std::uint32_t>(key.bytes[bit / 8]) << 8 |
                                  (bit / 8 + 1 < key.bytes.size() ? key.bytes[bit / 8 + 1] : 0u);
  return static_cast<std::uint8_t>(two_bytes >> (11 - bit % 8) & 31);
}

}  // namespace

absl::StatusOr<VanityPattern> VanityPattern::make(std::string text, VanityForm form,
                                                  VanityPosition position) {
  if (text.empty()) return absl::InvalidArgumentError("the wanted text is empty");
  if (text.size() > kCharsMax) {
    return absl::InvalidArgumentError("'" + text + "' has more than " + std::to_string(kCharsMax) +
                                      " characters; the search would not end");
  }
  const std::string_view alphabet = form == VanityForm::kNpub ? nostr::kBech32Alphabet : kHexDigits;
  const std::size_t bad = text.find_first_not_of(alphabet);
  if (bad != std::string::npos) {
    std::size_t end = bad + 1;  // All of it: UTF-8 may have some bytes more.
    while (end < text.size() && (static_cast<std::uint8_t>(text[end]) & 0xc0) == 0x80) ++end;
    return absl::InvalidArgumentError("'" + harmless(text) + "' has '" +
                                      harmless(text.substr(bad, end - bad)) +
                                      "', which never occurs; there are " + std::string(alphabet));
  }
  // From the end, the seventh character is the last of the key.
  constexpr std::size_t kLastFromEnd = kNpubChars - kNpubKeyChars + 1;
  if (form == VanityForm::kNpub && position == VanityPosition::kEnd &&
      text.size() >= kLastFromEnd &&
      kLastKeyChars.find(text[text.size() - kLastFromEnd]) == std::string_view::npos) {
    return absl::InvalidArgumentError("no npub ends with '" + text +
                                      "': its seventh character from the end is q or s");
  }
  return VanityPattern(std::move(text), form, position);
}

bool VanityPattern::fits_text(std::string_view whole) const {
  switch (position_) {
    case VanityPosition::kBegin: return whole.starts_with(text_);
    case VanityPosition::kContain: return whole.find(text_) != std::string_view::npos;
    case VanityPosition::kEnd: return whole.ends_with(text_);
  }
  return false;
}

bool VanityPattern::fits(const Bytes32& public_key) const {
  if (form_ == VanityForm::kHex) {
    std::array<char, kHexChars> hex;
    hex_encode(public_key.bytes, hex.data());
    return fits_text({hex.data(), hex.size()});
  }
  if (position_ == VanityPosition::kBegin) {
    // Without the checksum, which costs more than the rest; nearly all fail on the first
    // character.
    for (std::size_t i = 0; i < text_.size(); ++i) {
      if (nostr::kBech32Alphabet[key_bits(public_key, i)] != text_[i]) return false;
    }
    return true;
  }
  std::array<char, nostr::bech32_chars(kNpubPrefix.size(), 32)> npub;
  nostr::write_bech32(kNpubPrefix, public_key.bytes, npub.data());
  return fits_text(std::string_view(npub.data(), npub.size()).substr(kNpubPrefix.size() + 1));
}

double VanityPattern::expected_attempts() const {
  const bool is_npub = form_ == VanityForm::kNpub;
  double attempts = std::pow(is_npub ? 32.0 : 16.0, static_cast<double>(text_.size()));
  if (position_ == VanityPosition::kContain) {
    const std::size_t places = (is_npub ? kNpubChars : kHexChars) - text_.size() + 1;
    // One less the chance that none of the places fits, as if they did not depend on each other;
    // by logarithms, since 1 - 1 / attempts is 1 for more than 2^53.
    attempts = -1 / std::expm1(static_cast<double>(places) * std::log1p(-1 / attempts));
  } else if (is_npub && position_ == VanityPosition::kEnd && text_.size() > 6) {
    attempts /= 16;  // One character has two values instead of 32.
  }
  return attempts;
}

VanitySearch::~VanitySearch() { static_cast<void>(stop()); }

absl::Status VanitySearch::start(std::uint32_t threads) {
  GYRE_ASSERT_CMP(threads, >, 0u);
  const auto run = [](void* self) -> void* {
    static_cast<VanitySearch*>(self)->search();
    return nullptr;
  };
  for (std::uint32_t i = 0; i < threads; ++i) {
    pthread_t thread;
    if (const int error = pthread_create(&thread, nullptr, run, this); error != 0) {
      static_cast<void>(stop());
      return absl::ResourceExhaustedError(
          "only " + std::to_string(i) + " of " + std::to_string(threads) +
          " threads can be started: " + std::strerror(error) + "; ask for fewer with --threads");
    }
    threads_.push_back(thread);
  }
  return absl::OkStatus();
}

void VanitySearch::search() {
  SystemRandom random;
  nostr::KeySearch keys(random);
  // Relaxed: nothing is read after it but the flag itself.
  while (!must_stop_.load(std::memory_order_relaxed)) {
    for (std::uint64_t i = 0; i < kBatch; ++i) {
      if (!pattern_.fits(keys.next())) continue;
      const std::scoped_lock lock(mutex_);
      if (!found_) found_ = keys.secret_key();
      is_found_.store(true, std::memory_order_release);
      must_stop_.store(true, std::memory_order_relaxed);
      attempts_.fetch_add(i + 1, std::memory_order_relaxed);
      return;
    }
    attempts_.fetch_add(kBatch, std::memory_order_relaxed);
  }
}

std::optional<nostr::SecretKey> VanitySearch::stop() {
  must_stop_.store(true, std::memory_order_relaxed);
  for (const pthread_t thread : threads_) pthread_join(thread, nullptr);
  threads_.clear();
  return std::exchange(found_, std::nullopt);
}

}  // namespace gyre::app
