#include "gyre/base/shared_bytes.h"

#include <cstring>

namespace gyre {

SharedBytes SharedBytes::copy_of(ByteSpan bytes) {
  void* const memory = std::malloc(sizeof(Block) + bytes.size());
  GYRE_ASSERT(memory != nullptr);
  auto* const block = new (memory) Block{1, static_cast<std::uint32_t>(bytes.size())};
  // memcpy takes no null, not even for nothing.
  if (!bytes.empty()) std::memcpy(block->bytes(), bytes.data(), bytes.size());
  return SharedBytes(block);
}

}  // namespace gyre
