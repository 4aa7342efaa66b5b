#include "storage/posting_run.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "gyre/base/assert.h"
#include "storage/concat.h"
#include "storage/corruption.h"
#include "storage/crc32c.h"

namespace gyre::storage {
namespace {

// The place just behind the last posting of a range; false if that is the end of the run.
bool key_behind(const PostingRange& range, Term& term, std::uint64_t& created_at) {
  if (range.since != 0) {
    term = range.term;
    created_at = range.since - 1;
    return true;
  }
  if (range.term == UINT64_MAX) return false;
  term = range.term + 1;
  created_at = UINT64_MAX;
  return true;
}

}  // namespace

absl::StatusOr<std::unique_ptr<PostingRun>> PostingRun::open(FileSystem& files,
                                                             std::string_view folder,
                                                             std::string_view name) {
  std::unique_ptr<PostingRun> run(new PostingRun);
  run->name_ = name;
  run->path_ = concat(folder, "/", name);
  auto file = files.open(run->path_, FileSystem::OpenMode::kRead);
  if (!file.ok()) return file.status();
  run->file_ = *std::move(file);
  if (absl::Status status = run->load(); !status.ok()) return status;
  return run;
}

absl::Status PostingRun::load() {
  const auto size = file_->size();
  if (!size.ok()) return size.status();
  bytes_ = *size;
  if (bytes_ < sizeof(RunHeader) + sizeof(RunFooter)) {
    return absl::DataLossError(concat(path_, ": too short for a run; ", kRebuildCure));
  }
  const auto mapped = file_->map(bytes_);
  if (!mapped.ok()) return mapped.status();
  mapped_ = *mapped;
  std::memcpy(&footer_, mapped_ + bytes_ - sizeof footer_, sizeof footer_);
  if (absl::Status status = check_parts(); !status.ok()) return status;
  const std::uint8_t* const fences = mapped_ + footer_.fence_offset;
  fence_ = TermFence({fences, footer_.fence_bytes});
  tombstone_fence_ = TermFence({fences + footer_.fence_bytes, footer_.tombstone_fence_bytes});
  is_verified_.resize(footer_.block_count);
  index_by_prefix();
  return absl::OkStatus();
}

absl::Status PostingRun::check_parts() const {
  const auto damaged = [this](const char* part) {
    return absl::DataLossError(concat(path_, ": damaged ", part, "; ", kRebuildCure));
  };
  RunHeader header;
  std::memcpy(&header, mapped_, sizeof header);
  // Before any checksum: another version may keep those elsewhere.
  if (header.magic == kRunMagic && header.version != kRunVersion) {
    return derived_version_error(path_, header.version, kRunVersion);
  }
  if (header != kRunHeader) return damaged("header");
  if (!is_sound(footer_, bytes_)) return damaged("footer");
  const std::uint64_t index_bytes = footer_.block_count * sizeof(RunBlock);
  const ByteSpan index(mapped_ + footer_.index_offset, index_bytes);
  if (crc32c(0, index) != footer_.index_crc || !is_index_sound()) return damaged("block index");
  return absl::OkStatus();
}

// Whatever its checksum says, an index may not lead out of the file.
bool PostingRun::is_index_sound() const {
  std::uint64_t offset = sizeof(RunHeader);
  std::uint64_t postings = 0;
  Term term = 0;
  for (std::uint64_t block = 0; block < footer_.block_count; ++block) {
    const RunBlock here = entry(block);
    const std::uint64_t postings_end = postings_before(block + 1);
    if (here.offset != offset || here.postings_before != postings || postings_end <= postings ||
        here.bytes > footer_.blocks_end - offset || here.first_term < term) {
      return false;
    }
    offset += here.bytes;
    postings = postings_end;
    term = here.first_term;
  }
  return offset == footer_.blocks_end && postings == footer_.posting_count;
}

void PostingRun::index_by_prefix() {
  // About one entry for each block.
  const int bits = std::max(1, static_cast<int>(std::bit_width(footer_.block_count)) - 1);
  prefix_shift_ = 64 - bits;
  block_by_prefix_.assign((std::size_t{1} << bits) + 1, block_count());
  std::size_t filled = 0;
  for (std::uint32_t block = 0; block < block_count(); ++block) {
    const std::uint64_t prefix = entry(block).first_term >> prefix_shift_;
    for (; filled <= prefix; ++filled) block_by_prefix_[filled] = block;
  }
}

bool PostingRun::keep_resident(std::uint64_t& budget, Residence& residence) {
  const std::uint64_t bytes = std::min(budget, bytes_ - resident_bytes_);
  if (bytes == 0) return resident_bytes_ == bytes_;
  const absl::Status status = file_->keep_resident(resident_bytes_, bytes);
  budget -= bytes;
  resident_bytes_ += bytes;
  residence.add(bytes, status);
  if (resident_bytes_ < bytes_) return false;
  verify_fence();
  return true;
}

// A fence that said no where there are postings would let deleted events in again.
void PostingRun::verify_fence() const {
  if (!is_fence_sound()) stop_for_corruption(path_, "the fence fails its checksum");
}

bool PostingRun::is_fence_sound() const {
  const ByteSpan fences(mapped_ + footer_.fence_offset,
                        footer_.fence_bytes + footer_.tombstone_fence_bytes);
  return crc32c(0, fences) == footer_.fence_crc;
}

bool PostingRun::seek(Term term, std::uint64_t created_at, Position& position) const {
  const std::uint32_t behind = block_at_or_behind({term, created_at});
  if (behind > 0) {
    const PostingBlock block = use_block(behind - 1);
    const PostingBlock::Slice slice = block.find(term);
    const std::uint32_t index = block.find_time(slice, created_at);
    if (index < slice.end) {
      position = {behind - 1, index, slice.end};
      return true;
    }
    if (slice.end < block.posting_count()) return false;  // A higher term follows.
  }
  return begin_in_block(term, behind, position);
}

bool PostingRun::advance(Term term, Position& position) const {
  if (++position.index < position.end) return true;
  const std::uint32_t block = position.block;
  if (postings_before(block) + position.end < postings_before(block + 1)) return false;
  return begin_in_block(term, block + 1, position);
}

PostingRun::Value PostingRun::at(const Position& position) const {
  const PostingBlock block = use_block(position.block);
  return {block.created_at(position.index), block.sequence(position.index)};
}

std::uint64_t PostingRun::count(const PostingRange& range) const {
  if (range.since > range.until) return 0;
  const Key begin = {range.term, range.until};
  const std::uint64_t before = rank(begin, block_at_or_behind(begin));
  Key end;
  if (!key_behind(range, end.term, end.created_at)) return posting_count() - before;
  return rank(end, block_at_or_behind(end)) - before;
}

std::uint64_t PostingRun::estimate(const PostingRange& range) const {
  if (range.since > range.until) return 0;
  Key end;
  if (!key_behind(range, end.term, end.created_at)) return count(range);
  const Key begin = {range.term, range.until};
  const std::uint32_t first = block_at_or_behind(begin);
  const std::uint32_t last = block_at_or_behind(end);
  // With whole blocks between the ends, what is in the two outer ones matters little.
  if (last - first < 2) return rank(end, last) - rank(begin, first);
  return postings_before(last - 1) - postings_before(first);
}

void PostingRun::append_block(std::uint32_t block, std::vector<RunPosting>& out) const {
  use_block(block).append_to(out);
}

RunBlock PostingRun::entry(std::uint64_t block) const {
  RunBlock entry;
  std::memcpy(&entry, mapped_ + footer_.index_offset + block * sizeof entry, sizeof entry);
  return entry;
}

std::uint64_t PostingRun::postings_before(std::uint64_t block) const {
  return block < footer_.block_count ? entry(block).postings_before : footer_.posting_count;
}

PostingBlock PostingRun::use_block(std::uint32_t block) const {
  const RunBlock here = entry(block);
  if (!is_verified_[block]) [[unlikely]]
    verify_block(block);
  return {mapped_ + here.offset, here.first_term};
}

void PostingRun::verify_block(std::uint32_t block) const {
  if (!is_block_sound(block)) stop_for_corruption(path_, "a block fails its checksum");
  is_verified_[block] = true;
}

PostingRun::BlockExtent PostingRun::extent(std::uint32_t block) const {
  const RunBlock here = entry(block);
  return {here.offset, here.bytes, here.first_created_at};
}

bool PostingRun::is_block_sound(std::uint32_t block) const {
  const RunBlock here = entry(block);
  const ByteSpan bytes(mapped_ + here.offset, here.bytes);
  const std::uint64_t posting_count = postings_before(block + 1) - here.postings_before;
  return crc32c(0, bytes) == here.crc && PostingBlock::is_well_formed(bytes) &&
         PostingBlock(bytes.data(), here.first_term).posting_count() == posting_count;
}

std::uint32_t PostingRun::block_at_or_behind(Key key) const {
  const auto prefix = static_cast<std::size_t>(key.term >> prefix_shift_);
  std::uint32_t begin = block_by_prefix_[prefix];
  for (std::uint32_t count = block_by_prefix_[prefix + 1] - begin; count > 0;) {
    const std::uint32_t half = count / 2;
    const RunBlock here = entry(begin + half);
    const bool is_before = here.first_term < key.term ||
                           (here.first_term == key.term && here.first_created_at > key.created_at);
    if (is_before) {
      begin += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return begin;
}

std::uint64_t PostingRun::rank(Key key, std::uint32_t behind) const {
  if (behind == 0) return 0;
  const PostingBlock block = use_block(behind - 1);
  return postings_before(behind - 1) + block.find_time(block.find(key.term), key.created_at);
}

bool PostingRun::begin_in_block(Term term, std::uint32_t number, Position& position) const {
  if (number == footer_.block_count || entry(number).first_term != term) return false;
  position = {number, 0, use_block(number).find(term).end};
  return true;
}

}  // namespace gyre::storage
