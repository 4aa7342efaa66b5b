// Masking of client payloads (RFC 6455 5.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gyre::net {

// Unmasks in place. `mask` as it lies in memory.
void unmask(std::span<std::uint8_t> payload, std::uint32_t mask);

// The mask for what follows `bytes` bytes of the same frame.
[[nodiscard]] std::uint32_t advance_mask(std::uint32_t mask, std::size_t bytes);

}  // namespace gyre::net
