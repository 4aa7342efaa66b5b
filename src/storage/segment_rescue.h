// Rescue of a segment whose header is damaged, by what its records say.
#pragma once

#include <cstdint>
#include <optional>

#include "gyre/base/bytes.h"
#include "storage/log_format.h"

namespace gyre::storage {

// A header under which the records of `segment` (the whole file) are valid. The id that seeded
// their checksums is lost with the header, but a checksum is a bijection of its seed: each record
// tells the seed, and two in a row that agree leave no doubt. The id returned is not the one that
// was lost; it has the same seed. Nothing if there are no two such records.
//
// `first_record` is the number of the record with index 0, as the segments around tell it. Of a
// compacted segment the offset table is given up.
[[nodiscard]] std::optional<SegmentHeader> rescue_segment_header(ByteSpan segment,
                                                                 std::uint32_t number,
                                                                 std::uint64_t first_record);

}  // namespace gyre::storage
