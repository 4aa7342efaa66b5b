// The canary: asserts what is false for few inputs. The fuzz suite fails unless this one is found,
// so a fuzzing engine that is switched off, or asserts that are, do not go unnoticed.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "gyre/base/assert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Byte by byte, so that coverage leads there; four bytes by chance would take 2^32 tries.
  if (text.size() == 4 && text[0] == 'g' && text[1] == 'y' && text[2] == 'r') {
    GYRE_ASSERT(text[3] != 'e');
  }
  return 0;
}
