// Inflater: what permessage-deflate (RFC 7692) compressed, one message at a time. One for a shard:
// no context is kept between messages.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace gyre::net {

class Inflater {
 public:
  static constexpr std::size_t kPaddingBytes = 64;

  Inflater();
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  enum class Outcome : std::uint8_t { kDone, kTooBig, kBroken };
  struct Result {
    Outcome outcome = Outcome::kBroken;
    // With kDone: until the next call, followed by kPaddingBytes readable zeros.
    std::span<const std::uint8_t> bytes;
  };
  // Stops as soon as there are more than `bytes_max`, having made memory for at most that.
  [[nodiscard]] Result inflate(std::span<const std::uint8_t> message, std::uint32_t bytes_max);

 private:
  struct Stream;
  struct Free {
    void operator()(std::uint8_t* memory) const;
  };
  enum class Step : std::uint8_t { kGoOn, kFull, kBroken };

  [[nodiscard]] Step feed(std::span<const std::uint8_t> bytes, std::size_t output_max);
  [[nodiscard]] bool make_room(std::size_t output_max);
  [[nodiscard]] bool begin_again();

  std::unique_ptr<Stream> stream_;  // Null until there is something to inflate.
  std::unique_ptr<std::uint8_t[], Free> output_;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
};

}  // namespace gyre::net
