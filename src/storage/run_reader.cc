#include "storage/run_reader.h"

#include <algorithm>
#include <cstring>

#include "gyre/base/ids.h"
#include "storage/concat.h"
#include "storage/corruption.h"
#include "storage/crc32c.h"

namespace gyre::storage {
namespace {

constexpr std::uint64_t kIndexWindowBlocks = 1024;
constexpr std::uint64_t kStretchBytes = 256 * kKiB;
// Reading the last packed numbers of a block touches up to 8 bytes behind it.
constexpr std::uint64_t kBytesBehind = 8;

std::span<std::uint8_t> writable_bytes(std::vector<RunBlock>& entries) {
  return {reinterpret_cast<std::uint8_t*>(entries.data()), entries.size() * sizeof(RunBlock)};
}

}  // namespace

absl::StatusOr<std::unique_ptr<RunReader>> RunReader::open(FileSystem& files,
                                                           std::string_view folder,
                                                           std::string_view name) {
  std::unique_ptr<RunReader> reader(new RunReader);
  reader->path_ = concat(folder, "/", name);
  auto file = files.open(reader->path_, FileSystem::OpenMode::kRead);
  if (!file.ok()) return file.status();
  reader->file_ = *std::move(file);
  if (absl::Status status = reader->load(); !status.ok()) return status;
  reader->next_block();
  if (!reader->status_.ok()) return reader->status_;
  return reader;
}

absl::Status RunReader::load() {
  const auto size = file_->size();
  if (!size.ok()) return size.status();
  bytes_ = *size;
  if (bytes_ < sizeof(RunHeader) + sizeof(RunFooter)) return damaged("length");
  std::uint8_t footer[sizeof(RunFooter)];
  if (absl::Status status = file_->read_at(bytes_ - sizeof footer, footer); !status.ok()) {
    return status;
  }
  std::memcpy(&footer_, footer, sizeof footer_);
  if (!is_sound(footer_, bytes_)) return damaged("footer");
  stretch_offset_ = sizeof(RunHeader);
  return absl::OkStatus();
}

void RunReader::next_block() {
  at_ = 0;
  postings_.clear();
  if (!status_.ok() || block_ == footer_.block_count) return;
  status_ = read_block();
  if (!status_.ok()) postings_.clear();
}

absl::Status RunReader::read_block() {
  if (block_ == index_begin_ + index_.size()) {
    if (absl::Status status = read_index(); !status.ok()) return status;
  }
  const RunBlock& here = entry();
  if (here.offset + here.bytes > stretch_offset_ + stretch_bytes_) {
    if (absl::Status status = read_blocks(); !status.ok()) return status;
  }
  const ByteSpan bytes(stretch_.data() + (here.offset - stretch_offset_), here.bytes);
  if (here.postings_before != postings_before_ || crc32c(0, bytes) != here.crc ||
      !PostingBlock::is_well_formed(bytes)) {
    return damaged("block");
  }
  PostingBlock(bytes.data(), here.first_term).append_to(postings_);
  postings_before_ += postings_.size();
  ++block_;
  return absl::OkStatus();
}

absl::Status RunReader::read_index() {
  // The blocks of a window follow the last one of the window before.
  std::uint64_t offset = sizeof(RunHeader);
  if (!index_.empty()) offset = index_.back().offset + index_.back().bytes;
  index_begin_ += index_.size();
  index_.resize(std::min(kIndexWindowBlocks, footer_.block_count - index_begin_));
  const std::span<std::uint8_t> bytes = writable_bytes(index_);
  const std::uint64_t index_offset = footer_.index_offset + index_begin_ * sizeof(RunBlock);
  if (absl::Status status = file_->read_at(index_offset, bytes); !status.ok()) return status;
  index_crc_ = crc32c(index_crc_, bytes);
  const bool is_last = index_begin_ + index_.size() == footer_.block_count;
  if (is_last && index_crc_ != footer_.index_crc) return damaged("block index");
  // Whatever its checksum says, an index may not lead out of the file.
  for (const RunBlock& block : index_) {
    if (block.offset != offset || block.bytes > footer_.blocks_end - offset) {
      return damaged("block index");
    }
    offset += block.bytes;
  }
  return absl::OkStatus();
}

// From the next block on, whole blocks of the window.
absl::Status RunReader::read_blocks() {
  stretch_offset_ = entry().offset;
  stretch_bytes_ = 0;
  for (std::uint64_t block = block_; block < index_begin_ + index_.size(); ++block) {
    const std::uint64_t bytes = index_[block - index_begin_].bytes;
    if (stretch_bytes_ != 0 && stretch_bytes_ + bytes > kStretchBytes) break;
    stretch_bytes_ += bytes;
  }
  stretch_.resize(stretch_bytes_ + kBytesBehind);
  return file_->read_at(stretch_offset_, {stretch_.data(), stretch_bytes_});
}

absl::Status RunReader::damaged(const char* part) const {
  return absl::DataLossError(concat(path_, ": damaged ", part, "; ", kRebuildCure));
}

}  // namespace gyre::storage
