// PostingRun: one immutable, sorted file of postings, mapped.
//
// Opening reads and checks the footer and the block index: one byte in fifty. A block is checked
// when it is first used, the fence when it is brought into memory, in the first seconds after a
// start; what is damaged then stops the process (corruption.h).
//
// Belongs to one thread, because of what it remembers about checked blocks.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "gyre/storage/file.h"
#include "gyre/storage/posting_index.h"
#include "storage/posting_block.h"
#include "storage/posting_run_format.h"
#include "storage/term_fence.h"

namespace gyre::storage {

class PostingRun {
 public:
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<PostingRun>> open(FileSystem& files,
                                                                        std::string_view folder,
                                                                        std::string_view name);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint64_t posting_count() const { return footer_.posting_count; }
  // As the footer says.
  [[nodiscard]] RunTermCounts term_counts() const {
    return {footer_.term_count, footer_.tombstone_term_count};
  }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

  // Brings up to `budget` bytes more of the file into memory, to stay there (File::keep_resident);
  // true when all of it is. For the worker.
  bool keep_resident(std::uint64_t& budget, Residence& residence);

  // Each says of its terms whether they are surely not here. Whoever looks up a term asks them
  // first: what follows is as right without, but touches more memory.
  [[nodiscard]] const TermFence& fence() const { return fence_; }
  [[nodiscard]] const TermFence& tombstone_fence() const { return tombstone_fence_; }

  // A posting of a term.
  struct Position {
    std::uint32_t block = 0;
    std::uint32_t index = 0;  // Within the block.
    std::uint32_t end = 0;    // Of the term's postings in the block.
  };
  struct Value {
    std::uint64_t created_at;
    Sequence sequence;
  };
  // The term's first posting that is not newer than `created_at`; false if there is none.
  [[nodiscard]] bool seek(Term term, std::uint64_t created_at, Position& position) const;
  // To the term's next posting; false at its end.
  [[nodiscard]] bool advance(Term term, Position& position) const;
  [[nodiscard]] Value at(const Position& position) const;

  // Postings of the range, by two positions.
  [[nodiscard]] std::uint64_t count(const PostingRange& range) const;
  // The same, at most two blocks' postings less where the range is larger than a block.
  [[nodiscard]] std::uint64_t estimate(const PostingRange& range) const;

  // For whoever reads the whole run.
  [[nodiscard]] std::uint32_t block_count() const {
    return static_cast<std::uint32_t>(footer_.block_count);
  }
  void append_block(std::uint32_t block, std::vector<RunPosting>& out) const;

  // For whoever judges it (run_check.h) rather than stopping at the first damage.
  struct BlockExtent {
    std::uint64_t offset;
    std::uint64_t bytes;
    std::uint64_t first_created_at;  // By the index.
  };
  [[nodiscard]] BlockExtent extent(std::uint32_t block) const;
  [[nodiscard]] bool is_block_sound(std::uint32_t block) const;
  [[nodiscard]] bool is_fence_sound() const;

 private:
  struct Key {
    Term term;
    std::uint64_t created_at;
  };
  PostingRun() = default;

  [[nodiscard]] absl::Status load();
  [[nodiscard]] absl::Status check_parts() const;
  [[nodiscard]] bool is_index_sound() const;
  void index_by_prefix();
  void verify_fence() const;

  [[nodiscard]] RunBlock entry(std::uint64_t block) const;
  [[nodiscard]] std::uint64_t postings_before(std::uint64_t block) const;
  [[nodiscard]] PostingBlock use_block(std::uint32_t block) const;
  void verify_block(std::uint32_t block) const;
  // The first block whose first posting is not before `key`.
  [[nodiscard]] std::uint32_t block_at_or_behind(Key key) const;
  // How many postings of the run are before `key`; `behind` as block_at_or_behind() says.
  [[nodiscard]] std::uint64_t rank(Key key, std::uint32_t behind) const;
  [[nodiscard]] bool begin_in_block(Term term, std::uint32_t block, Position& position) const;

  std::string path_;
  std::string name_;
  std::unique_ptr<File> file_;
  const std::uint8_t* mapped_ = nullptr;
  std::uint64_t bytes_ = 0;
  RunFooter footer_{};
  TermFence fence_;
  TermFence tombstone_fence_;
  // Terms are evenly spread, so their highest bits lead straight to the neighbourhood: entry p is
  // the first block whose first term has these bits at p or above.
  std::vector<std::uint32_t> block_by_prefix_;
  int prefix_shift_ = 0;
  mutable std::vector<bool> is_verified_;  // By block.
  std::uint64_t resident_bytes_ = 0;       // The worker's.
};

}  // namespace gyre::storage
