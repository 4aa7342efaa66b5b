// CRC32C (Castagnoli), the checksum of everything gyre writes.
#pragma once

#include <cstdint>

#include "gyre/base/bytes.h"

namespace gyre::storage {

// Continues `crc` over `bytes`: crc32c(crc32c(0, a), b) is the checksum of a followed by b.
// Starting from something other than 0 seeds it. Uses SSE4.2 and PCLMULQDQ where the processor has
// them.
[[nodiscard]] std::uint32_t crc32c(std::uint32_t crc, ByteSpan bytes);

// The same by tables, for processors without the instructions.
[[nodiscard]] std::uint32_t crc32c_portable(std::uint32_t crc, ByteSpan bytes);

}  // namespace gyre::storage
