// Repair of one shard: whatever can be read of its log stays, and the rest of it becomes gaps.
//
// Segments with damage are written anew as compacted ones (FORMAT.md): every whole record keeps its
// number, its position and its sequence, so the other segments need not be touched. Derived files
// are set aside; the next start makes them again from the log. Nothing is deleted: originals go to
// a folder in the shard's that gyre does not look at.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gyre/base/random.h"
#include "gyre/storage/file.h"
#include "gyre/storage/format.h"
#include "gyre/storage/shard_check.h"

namespace gyre::storage {

// A stretch of the log that could not be saved.
struct Loss {
  std::string path;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::string what;
  std::uint64_t first_number = 0;  // Of the records that are lost,
  std::uint64_t records = 0;       // and how many are.
  Sequence first_sequence = 0;     // Of the events among them,
  std::uint32_t rows = 0;          // and how many they are.
  // The directory could not tell how many: each record is then taken for an event.
  bool are_rows_assumed = false;

  // What the directory knows of the lost events; the first few.
  struct Event {
    Sequence sequence = 0;
    std::uint64_t id_prefix = 0;  // The id's first eight bytes.
    std::uint64_t created_at = 0;
    std::uint16_t kind = 0;
    bool was_alive = false;
  };
  static constexpr std::size_t kEventsMax = 1000;
  std::vector<Event> events;
};

struct ShardRepair {
  std::vector<Loss> losses;
  std::vector<std::string> set_aside;  // Paths where the originals are now.
  // Events that the directory knew to be dead, by causes other than a newer version. If the record
  // that said so is lost, they would come back: whoever opens the store makes them dead again.
  std::vector<Sequence> dead;
};

struct ShardRepairOptions {
  std::string aside;  // Name of the folder for originals, in the shard's.
  // As ShardCheckOptions.
  std::function<absl::Status(std::uint64_t bytes)> advance;
};

// For a shard in which check_shard() has found something. An interruption or an error leaves a
// shard that can be repaired again.
[[nodiscard]] absl::StatusOr<ShardRepair> repair_shard(FileSystem& files, const ShardPlace& place,
                                                       const ShardRepairOptions& options,
                                                       Random& random);

}  // namespace gyre::storage
