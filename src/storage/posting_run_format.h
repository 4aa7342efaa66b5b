// The bytes of a run file (FORMAT.md, "Runs"), for its writer and its reader.
//
//     header | blocks | padding to 64 | fence | fence of tombstones | block index | footer
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gyre/storage/format.h"
#include "gyre/storage/term.h"

namespace gyre::storage {

inline constexpr std::uint32_t kRunVersion = 2;
using RunMagic = std::array<char, 8>;
inline constexpr RunMagic kRunMagic = {'G', 'Y', 'R', 'E', 'R', 'U', 'N', 0};

struct RunHeader {
  RunMagic magic;
  std::uint32_t version;
  std::uint32_t reserved;
  friend bool operator==(const RunHeader&, const RunHeader&) = default;
};
static_assert(sizeof(RunHeader) == 16);
inline constexpr RunHeader kRunHeader = {kRunMagic, kRunVersion, 0};

// One entry of the block index.
struct RunBlock {
  Term first_term;                 // Of the block's first posting,
  std::uint64_t first_created_at;  // as this is.
  std::uint64_t offset;
  std::uint64_t postings_before;  // In all blocks before this one.
  std::uint32_t bytes;
  std::uint32_t crc;  // CRC32C of the block's bytes.
};
static_assert(sizeof(RunBlock) == 40);

// The head of a block; four lists of packed numbers follow (packed_numbers.h):
//
//     terms        term_count - 1 of term_bits, each less first_term; without the first term
//     new terms    posting_count of one bit: 1 where a term begins; nothing if there is but one
//     term times        posting_count of created_at_bits, each less base_created_at sequences
//     posting_count of sequence_bits, each less base_sequence
//
// So every posting is read at once, and a term is found by halving.
struct RunBlockHead {
  std::uint64_t base_created_at;
  Sequence base_sequence;
  std::uint16_t posting_count;
  std::uint16_t term_count;
  std::uint8_t term_bits;
  std::uint8_t created_at_bits;
  std::uint8_t sequence_bits;
  std::uint8_t reserved[5];
};
static_assert(sizeof(RunBlockHead) == 24);

// A block is closed before it would exceed this: two or three hundred postings of rare terms, twice
// as many of frequent ones. The index then is one byte in fifty.
inline constexpr std::uint64_t kRunBlockBytesMax = 2048;
inline constexpr std::uint32_t kRunBlockPostingsMax = 4096;

inline constexpr std::uint64_t kRunFenceAlignment = 64;  // A cache line.

// How many distinct terms a run has.
struct RunTermCounts {
  std::uint64_t all = 0;
  std::uint64_t tombstones = 0;  // Of them; see is_tombstone().
};

struct RunFooter {
  std::uint64_t posting_count;
  std::uint64_t term_count;
  std::uint64_t tombstone_term_count;
  std::uint64_t block_count;
  std::uint64_t blocks_end;  // Offset of the byte after the last block.
  std::uint64_t fence_offset;
  std::uint64_t fence_bytes;
  std::uint64_t tombstone_fence_bytes;  // Right behind the other fence.
  std::uint64_t index_offset;
  std::uint32_t fence_crc;  // Of both.
  std::uint32_t index_crc;
  RunMagic magic;
  std::uint32_t version;
  std::uint32_t crc;  // CRC32C of the footer before this.
};
static_assert(sizeof(RunFooter) == 96);
// Whether the footer is whole and describes a file of this length.
[[nodiscard]] bool is_sound(const RunFooter& footer, std::uint64_t file_bytes);
// Reading the last packed numbers of a block touches up to 8 bytes behind it.
static_assert(sizeof(RunFooter) >= 8);

}  // namespace gyre::storage
