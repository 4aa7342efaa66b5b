// VanitySearch: looks on several threads for a key whose public form holds a wanted text.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gyre/base/bytes.h"
#include "gyre/nostr/secret_key.h"

namespace gyre::app {

enum class VanityForm : std::uint8_t { kNpub, kHex };
enum class VanityPosition : std::uint8_t { kBegin, kContain, kEnd };

// What is looked for. "Begin" of an npub is right behind npub1.
class VanityPattern {
 public:
  // More characters would take longer than anybody waits.
  static constexpr std::size_t kCharsMax = 16;

  // Fails for text that no key can have, and says which characters there are.
  [[nodiscard]] static absl::StatusOr<VanityPattern> make(std::string text, VanityForm form,
                                                          VanityPosition position);

  [[nodiscard]] bool fits(const Bytes32& public_key) const;
  // Keys that are tried on average.
  [[nodiscard]] double expected_attempts() const;

 private:
  VanityPattern(std::string text, VanityForm form, VanityPosition position)
      : text_(std::move(text)), form_(form), position_(position) {}

  [[nodiscard]] bool fits_text(std::string_view whole) const;

  std::string text_;
  VanityForm form_;
  VanityPosition position_;
};

class VanitySearch {
 public:
  explicit VanitySearch(const VanityPattern& pattern) : pattern_(pattern) {}
  ~VanitySearch();  // Stops it.
  VanitySearch(const VanitySearch&) = delete;
  VanitySearch& operator=(const VanitySearch&) = delete;

  // Called once. Fails if the system has no room for so many threads; none runs then. Requires:
  // 0 < threads.
  [[nodiscard]] absl::Status start(std::uint32_t threads);

  [[nodiscard]] bool is_found() const { return is_found_.load(std::memory_order_acquire); }
  [[nodiscard]] std::uint64_t attempts() const { return attempts_.load(std::memory_order_relaxed); }
  // Ends all threads. Nothing if there was no find yet.
  [[nodiscard]] std::optional<nostr::SecretKey> stop();

 private:
  void search();

  VanityPattern pattern_;
  std::atomic<bool> must_stop_ = false;
  // Set (release) after found_, read (acquire) by who waits for it.
  std::atomic<bool> is_found_ = false;
  std::atomic<std::uint64_t> attempts_ = 0;
  std::mutex mutex_;
  std::optional<nostr::SecretKey> found_;  // Under the mutex while threads run.
  // Not std::thread, which reports by an exception that it could not be started.
  std::vector<pthread_t> threads_;
};

}  // namespace gyre::app
