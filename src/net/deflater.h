// Deflater: compresses what many messages have in common, so that each can be put together of
// pieces (RFC 7692, RFC 1951).
//
// A message is a sequence of deflate blocks that ends in the first byte of an empty stored block:
//
//     00 LEN NLEN <prefix>   a stored block: the prefix as it is
//     <body>                 compressed alone, so that it refers to nothing outside of itself; its
//                            end is the first byte of a stored block, and the suffix goes on from
//                            it
//     LEN NLEN <suffix> 00
//
// So the body's bytes are the same in every message, whoever it is for.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "gyre/base/shared_bytes.h"

namespace gyre::net {

class Deflater {
 public:
  // Below it, a message is not worth the while: nearly all of it is ids and signatures.
  static constexpr std::size_t kBodyBytesMin = 256;

  Deflater();
  ~Deflater();
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  // Null if it is not worth it.
  [[nodiscard]] SharedBytes deflate(std::string_view body);

  // 00 LEN NLEN, in front of a prefix; LEN NLEN in front of a suffix; 00 at the end.
  static constexpr std::size_t kStoredHeaderBytes = 5;
  static constexpr std::size_t kStoredBytesMax = 0xffff;  // In one stored block.
  [[nodiscard]] static std::array<char, kStoredHeaderBytes> stored_header(std::size_t bytes);

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;  // Null until there is something to deflate.
  std::vector<std::uint8_t> output_;
};

}  // namespace gyre::net
