#include "storage/posting_run_writer.h"

#include <utility>

#include "gyre/base/assert.h"
#include "gyre/base/ids.h"
#include "storage/crc32c.h"

namespace gyre::storage {
namespace {

// Written at once, at multiples of this: file systems that know large folios (ext4 since
// Linux 6.16, XFS) then keep a run in pages of 2 MiB, which cost less to write, to map and to drop,
// and lookups miss the TLB less often.
constexpr std::size_t kWriteBytes = 2 * kMiB;

template <typename T>
ByteSpan bytes_of(const T& value) {
  static_assert(std::has_unique_object_representations_v<T>, "padding would reach the disk");
  return {reinterpret_cast<const std::uint8_t*>(&value), sizeof value};
}

}  // namespace

absl::StatusOr<std::unique_ptr<PostingRunWriter>> PostingRunWriter::create(
    FileSystem& files, std::string_view folder, std::string_view name,
    const RunTermCounts& terms_max) {
  const std::string path = std::string(folder) + "/" + std::string(name);
  if (files.exists(path)) {
    if (absl::Status status = files.remove(path); !status.ok()) return status;
  }
  auto file = files.open(path, FileSystem::OpenMode::kCreateNew);
  if (!file.ok()) return file.status();
  return std::unique_ptr<PostingRunWriter>(
      new PostingRunWriter(files, folder, *std::move(file), terms_max));
}

PostingRunWriter::PostingRunWriter(FileSystem& files, std::string_view folder,
                                   std::unique_ptr<File> file, const RunTermCounts& terms_max)
    : files_(files),
      folder_(folder),
      file_(std::move(file)),
      fence_(terms_max.all - terms_max.tombstones),
      tombstone_fence_(terms_max.tombstones) {
  unwritten_.reserve(kWriteBytes + kRunBlockBytesMax);
  write(bytes_of(kRunHeader));
}

void PostingRunWriter::add(Term term, std::uint64_t created_at, Sequence sequence) {
  const bool is_first = posting_count_ == 0;
  GYRE_ASSERT(is_first || term > last_.term ||
              (term == last_.term && created_at <= last_.created_at));
  if (is_first || term != last_.term) note_term(term);
  last_ = {term, created_at, sequence};
  if (!block_.try_add(last_)) {
    end_block();
    const bool is_added = block_.try_add(last_);
    GYRE_ASSERT(is_added);
  }
  ++posting_count_;
}

void PostingRunWriter::note_term(Term term) {
  ++terms_.all;
  if (is_tombstone(term)) {
    ++terms_.tombstones;
    tombstone_fence_.add(term);
  } else {
    fence_.add(term);
  }
}

absl::Status PostingRunWriter::sync() {
  if (status_.ok()) status_ = file_->sync_data();
  return status_;
}

absl::Status PostingRunWriter::finish() {
  write_tail();
  flush(unwritten_.size());
  if (status_.ok()) status_ = file_->sync_data();
  if (status_.ok()) status_ = files_.sync_directory(folder_);
  return status_;
}

void PostingRunWriter::end_block() {
  if (block_.is_empty()) return;
  const RunPosting& first = block_.postings().front();
  RunBlock entry = {
      first.term, first.created_at, added_bytes_, posting_count_ - block_.postings().size(), 0, 0};
  block_bytes_.clear();
  block_.finish(block_bytes_);
  entry.bytes = static_cast<std::uint32_t>(block_bytes_.size());
  entry.crc = crc32c(0, block_bytes_);
  index_.push_back(entry);
  write(block_bytes_);
}

void PostingRunWriter::write_tail() {
  end_block();
  RunFooter footer = {};
  footer.posting_count = posting_count_;
  footer.term_count = terms_.all;
  footer.tombstone_term_count = terms_.tombstones;
  footer.block_count = index_.size();
  footer.blocks_end = added_bytes_;
  const std::uint8_t zeros[kRunFenceAlignment] = {};
  write({zeros, (kRunFenceAlignment - added_bytes_ % kRunFenceAlignment) % kRunFenceAlignment});
  footer.fence_offset = added_bytes_;
  footer.fence_bytes = fence_.bytes().size();
  footer.tombstone_fence_bytes = tombstone_fence_.bytes().size();
  footer.fence_crc = crc32c(crc32c(0, fence_.bytes()), tombstone_fence_.bytes());
  write(fence_.bytes());
  write(tombstone_fence_.bytes());
  footer.index_offset = added_bytes_;
  const ByteSpan index(reinterpret_cast<const std::uint8_t*>(index_.data()),
                       index_.size() * sizeof(RunBlock));
  footer.index_crc = crc32c(0, index);
  write(index);
  footer.magic = kRunMagic;
  footer.version = kRunVersion;
  footer.crc = crc32c(0, bytes_of(footer).first(offsetof(RunFooter, crc)));
  write(bytes_of(footer));
}

void PostingRunWriter::write(ByteSpan bytes) {
  unwritten_.insert(unwritten_.end(), bytes.begin(), bytes.end());
  added_bytes_ += bytes.size();
  if (unwritten_.size() >= kWriteBytes) flush(unwritten_.size() / kWriteBytes * kWriteBytes);
}

// The first `bytes` of what is unwritten.
void PostingRunWriter::flush(std::size_t bytes) {
  const ByteSpan part(unwritten_.data(), bytes);
  const std::uint64_t offset = added_bytes_ - unwritten_.size();
  if (status_.ok() && bytes > 0) status_ = file_->write_at(offset, {&part, 1});
  unwritten_.erase(unwritten_.begin(), unwritten_.begin() + static_cast<std::ptrdiff_t>(bytes));
}

}  // namespace gyre::storage
