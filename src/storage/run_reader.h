// RunReader: reads a run from its first posting to its last, for merges.
//
// By read() and not through a mapping: what a bad disk cannot give is a status then and not a
// signal, and whole stretches are read at once. Everything is checked on the way.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "gyre/storage/file.h"
#include "storage/posting_block.h"
#include "storage/posting_run_format.h"

namespace gyre::storage {

class RunReader {
 public:
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<RunReader>> open(FileSystem& files,
                                                                       std::string_view folder,
                                                                       std::string_view name);

  [[nodiscard]] std::uint64_t posting_count() const { return footer_.posting_count; }
  [[nodiscard]] RunTermCounts terms() const {
    return {footer_.term_count, footer_.tombstone_term_count};
  }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

  // At the end of the run, and after an error.
  [[nodiscard]] bool is_at_end() const { return at_ == postings_.size(); }
  [[nodiscard]] const absl::Status& status() const { return status_; }
  // Requires: !is_at_end().
  [[nodiscard]] const RunPosting& posting() const { return postings_[at_]; }
  void advance() {
    if (++at_ == postings_.size()) next_block();
  }

 private:
  RunReader() = default;
  [[nodiscard]] absl::Status load();
  void next_block();
  [[nodiscard]] absl::Status read_block();
  [[nodiscard]] absl::Status read_index();
  [[nodiscard]] absl::Status read_blocks();
  [[nodiscard]] absl::Status damaged(const char* part) const;
  [[nodiscard]] const RunBlock& entry() const { return index_[block_ - index_begin_]; }

  std::string path_;
  std::unique_ptr<File> file_;
  std::uint64_t bytes_ = 0;
  RunFooter footer_{};
  absl::Status status_;

  std::uint64_t block_ = 0;  // The next to be decoded.
  std::uint64_t postings_before_ = 0;
  // A window of the block index.
  std::vector<RunBlock> index_;
  std::uint64_t index_begin_ = 0;
  std::uint32_t index_crc_ = 0;  // Of everything up to the end of the window.
  // A stretch of blocks, as in the file.
  std::vector<std::uint8_t> stretch_;
  std::uint64_t stretch_offset_ = 0;
  std::uint64_t stretch_bytes_ = 0;

  std::vector<RunPosting> postings_;  // Of one block.
  std::size_t at_ = 0;
};

}  // namespace gyre::storage
