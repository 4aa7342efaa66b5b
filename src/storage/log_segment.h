// LogSegment: one file of the log, with its mapping.
//
// A segment is prepared ahead of need under a temporary name, and begins when the first record
// comes that no longer fits into the one before. Beginning writes the header, syncs, renames and
// syncs the folder, after the segment before is sealed. So a file under a segment's name always has
// its whole header, and only the last of them can end in a torn record.
//
// The shard makes positions in it and reads the mapping; files are touched by the log writer alone.
//
// Compaction replaces the file of a sealed segment by a shorter one (segment_compactor.h). Offsets
// stay what they were: find() knows the way. A segment of which next to nothing is left is held
// in memory, so that a store of many thousands of them runs out of neither descriptors nor
// mappings.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "gyre/storage/file.h"
#include "storage/log_format.h"
#include "storage/offset_table.h"

namespace gyre::storage {

// "log-00000001.seg".
[[nodiscard]] std::string segment_name(std::uint32_t number);
// The number of a segment's name; 0 for any other name.
[[nodiscard]] std::uint32_t parse_segment_name(std::string_view name);
[[nodiscard]] std::string unfinished_segment_name(std::uint32_t number);
// True for what prepare() leaves behind when the process dies before begin(), and a compaction when
// it dies before its rename.
[[nodiscard]] bool is_unfinished_segment_name(std::string_view name);

// True for a full disk and for want of descriptors or kernel memory: nothing is lost, and it will
// work again when somebody gives back what he holds. Never true for a failed sync.
[[nodiscard]] bool is_out_of_resources(const absl::Status& status);

// Reserves `bytes` at `offset`, or if the disk has no space for that, the largest of its halves
// that fits, down to 64 KiB. The bytes reserved; 0 for a full disk.
[[nodiscard]] absl::StatusOr<std::uint64_t> reserve_what_fits(File& file, std::uint64_t offset,
                                                              std::uint64_t bytes);

class LogSegment;
// The payload of the record that was written at `offset` of a segment, not checked; empty if there
// is none.
[[nodiscard]] ByteSpan payload_at(const LogSegment& segment, std::uint32_t offset);

class LogSegment {
 public:
  struct Place {
    FileSystem& files;
    std::string directory;
    ShardIdentity owner = {};
  };

  // Makes the file of a segment that will begin later, and reserves up to `reserve_bytes` of it.
  // After an error nothing is left behind; kResourceExhausted if the disk has no space.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<LogSegment>> prepare(
      const Place& place, std::uint32_t number, std::uint64_t id, std::uint64_t map_bytes,
      std::uint64_t reserve_bytes);

  // Opens a segment that has begun and checks its header. The mapping has `map_bytes` at least.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<LogSegment>> open(const Place& place,
                                                                        std::uint32_t number,
                                                                        std::uint64_t map_bytes);
  // The same for what a compaction has written and not yet renamed.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<LogSegment>> open_unfinished(
      const Place& place, std::uint32_t number);

  // Makes a prepared segment a part of the log. After an error that is_out_of_resources() begin()
  // may be called again.
  [[nodiscard]] absl::Status begin(const Place& place);
  // Cuts the space that no record uses, and syncs.
  [[nodiscard]] absl::Status seal(std::uint64_t used_bytes);
  // Removes a prepared segment that will not begin.
  [[nodiscard]] absl::Status discard(const Place& place);

  [[nodiscard]] const SegmentHeader& header() const { return header_; }
  // Requires: begin() has not been called.
  void set_first_record(std::uint64_t number) { header_.first_record = number; }
  [[nodiscard]] std::uint32_t seed() const { return seed_; }
  // Requires: is_mapped().
  [[nodiscard]] File& file() const { return *file_; }
  // For reads under way and for who keeps it in memory: they may outlive the segment's time.
  [[nodiscard]] const std::shared_ptr<File>& shared_file() const { return file_; }
  // False for a compacted segment that is held in memory: it has no file.
  [[nodiscard]] bool is_mapped() const { return file_ != nullptr; }
  // The whole file from its first byte; readable up to what has been written or reserved.
  [[nodiscard]] const std::uint8_t* bytes() const { return bytes_; }
  // What a sealed segment has on the disk, its offset table included; known once it is sealed or
  // was opened.
  [[nodiscard]] std::uint64_t file_bytes() const { return file_bytes_; }
  void set_file_bytes(std::uint64_t bytes) { file_bytes_ = bytes; }
  [[nodiscard]] ByteSpan file_span() const { return {bytes_, file_bytes_}; }

  // Where in the file the record stands that was written at `offset`. Nothing if a compacted
  // segment has no such event, or its table is damaged: the record names the offset itself, so a
  // wrong table cannot lead to another event.
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint32_t offset) const {
    return table_.has_value() ? find_in_compacted(offset) : offset;
  }
  // Null if the segment is not compacted.
  [[nodiscard]] const OffsetTable* offset_table() const { return table_ ? &*table_ : nullptr; }
  // How far writes cannot fail for want of space. Kept by the shard.
  [[nodiscard]] std::uint64_t reserved_end() const { return reserved_end_; }
  void set_reserved_end(std::uint64_t end) { reserved_end_ = end; }
  // Where in the file the records of a segment end to which none will be added; 0 before. Kept by
  // the shard.
  [[nodiscard]] std::uint64_t sealed_end() const { return sealed_end_; }
  void set_sealed_end(std::uint64_t end) { sealed_end_ = end; }

 private:
  LogSegment(const SegmentHeader& header, std::unique_ptr<File> file);
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<LogSegment>> open_path(
      const Place& place, const std::string& path, std::uint32_t number, std::uint64_t map_bytes);
  [[nodiscard]] absl::Status attach(std::uint64_t map_bytes);
  [[nodiscard]] std::optional<std::uint32_t> find_in_compacted(std::uint32_t offset) const;

  SegmentHeader header_;
  std::uint32_t seed_;
  std::shared_ptr<File> file_;
  const std::uint8_t* bytes_ = nullptr;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t reserved_end_ = 0;
  std::uint64_t sealed_end_ = 0;
  std::optional<OffsetTable> table_;
  std::vector<std::uint8_t> copy_;  // The file, if it is not mapped.
  bool is_named_ = false;           // begin() has come as far as the rename.
};

}  // namespace gyre::storage
