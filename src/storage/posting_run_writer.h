// PostingRunWriter: writes one run file, posting by posting, in order.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gyre/storage/file.h"
#include "gyre/storage/format.h"
#include "storage/posting_block.h"
#include "storage/posting_run_format.h"
#include "storage/term_fence.h"

namespace gyre::storage {

class PostingRunWriter {
 public:
  // Makes `folder`/`name` anew; an unfinished file of that name, left by a crash, is replaced.
  // `terms_max` bounds the distinct terms to come; the fences are sized by it.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<PostingRunWriter>> create(
      FileSystem& files, std::string_view folder, std::string_view name,
      const RunTermCounts& terms_max);

  // Requires: terms ascending, created_at descending within a term, ties by id prefix. A failed
  // write is kept and told by finish().
  void add(Term term, std::uint64_t created_at, Sequence sequence);

  // Makes what was added durable, but for the last mebibytes: nobody counts on a run that is not
  // finished, this only keeps finish() from waiting for all of it.
  [[nodiscard]] absl::Status sync();
  // Writes what is left, syncs the file and its name.
  [[nodiscard]] absl::Status finish();

 private:
  PostingRunWriter(FileSystem& files, std::string_view folder, std::unique_ptr<File> file,
                   const RunTermCounts& terms_max);

  void note_term(Term term);
  void end_block();
  void write(ByteSpan bytes);
  void flush(std::size_t bytes);
  void write_tail();

  FileSystem& files_;
  const std::string folder_;
  const std::unique_ptr<File> file_;
  absl::Status status_;
  TermFenceBuilder fence_;
  TermFenceBuilder tombstone_fence_;
  std::vector<RunBlock> index_;

  PostingBlockBuilder block_;
  std::vector<std::uint8_t> block_bytes_;  // Scratch.
  std::vector<std::uint8_t> unwritten_;
  std::uint64_t added_bytes_ = 0;  // Of the file, with those in unwritten_.

  std::uint64_t posting_count_ = 0;
  RunTermCounts terms_;
  RunPosting last_{};
};

}  // namespace gyre::storage
