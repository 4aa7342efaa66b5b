// check_shard: reads every byte of a shard that counts, and says what does not fit.
//
// - The log: checksums, order and count of the records; each packed event is one that its JSON
//   gives, with the right id; nothing is retired that does not exist or is dead.
// - The directory: each row is the one that the log gives, dead or alive as the log says.
// - The runs: checksums, order, fences; and their postings, less the dead ones, are exactly those
//   that the events of the log have, no more and no fewer.
// - The manifest: its counts are those of the log at its position.
//
// Changes nothing. The store must not be in use. Memory: a few bits for each event, and a bounded
// number of postings where the runs turn out to be wrong.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "gyre/base/ids.h"
#include "gyre/base/random.h"
#include "gyre/storage/file.h"
#include "gyre/storage/format.h"

namespace gyre::storage {

struct Finding {
  enum class Part : std::uint8_t { kLog, kDirectory, kRun, kManifest };
  Part part = Part::kLog;
  std::string path;
  std::optional<std::uint64_t> offset;
  std::optional<Sequence> sequence;
  std::string what;
};
// What to do about it, in a sentence.
[[nodiscard]] std::string_view cure_of(Finding::Part part);
// "PATH at offset N, event N: what is wrong".
[[nodiscard]] std::string describe(const Finding& finding);

struct ShardCheck {
  // The first few of each part; a damaged disk can bring millions.
  std::vector<Finding> findings;
  std::uint64_t finding_count = 0;
  bool is_log_damaged = false;
  bool is_index_damaged = false;  // Directory, runs or manifest.
  std::uint64_t records = 0;
  std::uint64_t events = 0;
  std::uint64_t events_alive = 0;
  std::uint64_t postings = 0;       // In runs,
  std::uint64_t dead_postings = 0;  // and in runs of dead ones.
  std::uint64_t bytes = 0;          // Read.
  bool is_index_outdated = false;   // Of an older gyre: the next start makes it again.
  std::uint64_t torn_bytes = 0;     // Behind the last record: no damage, the next start cuts them.
};

struct ShardCheckOptions {
  bool verifies_signatures = false;
  static constexpr std::uint64_t kFindingsKeptMax = 100;  // Of each part.
  // Hears of bytes read, about once a MiB; a status ends the check with it.
  std::function<absl::Status(std::uint64_t bytes)> advance;
};

// Where a shard lies, and whose it is (DataDirectory).
struct ShardPlace {
  std::string folder;
  std::array<std::uint8_t, 16> key;
  ShardId shard = 0;
};

// Errors are those of the file system, and of files of a newer gyre.
[[nodiscard]] absl::StatusOr<ShardCheck> check_shard(FileSystem& files, const ShardPlace& place,
                                                     const ShardCheckOptions& options,
                                                     Random& random);
// What check_shard() will read, for showing progress.
[[nodiscard]] absl::StatusOr<std::uint64_t> bytes_to_check(FileSystem& files,
                                                           std::string_view folder);

}  // namespace gyre::storage
