#include "storage/posting_run_format.h"

#include "storage/crc32c.h"
#include "storage/term_fence.h"

namespace gyre::storage {

bool is_sound(const RunFooter& footer, std::uint64_t file_bytes) {
  const ByteSpan checked(reinterpret_cast<const std::uint8_t*>(&footer), offsetof(RunFooter, crc));
  if (footer.magic != kRunMagic || footer.version != kRunVersion) return false;
  if (crc32c(0, checked) != footer.crc) return false;
  // Each part is bounded by the file's size first, so that no sum wraps around.
  const bool are_parts_bounded =
      footer.fence_bytes > 0 && footer.fence_bytes <= file_bytes &&
      footer.fence_bytes % kFenceBlockBytes == 0 && footer.tombstone_fence_bytes > 0 &&
      footer.tombstone_fence_bytes <= file_bytes &&
      footer.tombstone_fence_bytes % kFenceBlockBytes == 0 && footer.fence_offset <= file_bytes &&
      footer.index_offset <= file_bytes && footer.block_count <= file_bytes / sizeof(RunBlock);
  const std::uint64_t index_bytes = footer.block_count * sizeof(RunBlock);
  return are_parts_bounded && footer.tombstone_term_count <= footer.term_count &&
         footer.blocks_end <= footer.fence_offset &&
         footer.fence_offset + footer.fence_bytes + footer.tombstone_fence_bytes ==
             footer.index_offset &&
         footer.index_offset + index_bytes + sizeof(RunFooter) == file_bytes;
}

}  // namespace gyre::storage
