// A FileReader whose reads are done when the test says so, in the order the test likes.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <span>
#include <vector>

#include "gyre/base/random.h"
#include "gyre/storage/cold_reads.h"
#include "gyre/storage/file_reader.h"
#include "support/sim_file_system.h"

namespace gyre::storage {

class ManualFileReader final : public FileReader {
 public:
  explicit ManualFileReader(const test::SimFileSystem& files) : files_(files) {}

  void read(std::uint32_t number, const File& file, std::uint64_t offset,
            std::span<std::uint8_t> out, Owner& owner) override {
    reads_.push_back({number, file.descriptor(), offset, out, &owner});
  }

  [[nodiscard]] std::size_t count() const { return reads_.size(); }
  [[nodiscard]] std::size_t bytes() const {
    std::size_t sum = 0;
    for (const Read& read : reads_) sum += read.out.size();
    return sum;
  }
  // Does the read at `index`, of `bytes_max` bytes at most.
  void complete(std::size_t index, std::size_t bytes_max = SIZE_MAX) {
    const Read read = take(index);
    const auto out = read.out.first(std::min(bytes_max, read.out.size()));
    read.owner->on_read(read.number, files_.read_open_file(read.file, read.offset, out));
  }
  void fail(std::size_t index, int error) {
    const Read read = take(index);
    read.owner->on_read(read.number, -error);
  }
  void complete_all() {
    while (!reads_.empty()) complete(0);
  }
  // Any one, as a disk may: whole, in part, or not at all.
  void complete_some(Random& random) {
    const std::size_t index = random.next_u64() % reads_.size();
    switch (random.next_u64() % 8) {
      case 0: return fail(index, random.next_u64() % 2 == 0 ? EINTR : EAGAIN);
      case 1:
      case 2: return complete(index, 1 + random.next_u64() % reads_[index].out.size());
      default: return complete(index);
    }
  }

 private:
  struct Read {
    std::uint32_t number;
    int file;
    std::uint64_t offset;
    std::span<std::uint8_t> out;
    Owner* owner;
  };
  Read take(std::size_t index) {
    const Read read = reads_.at(index);
    reads_.erase(reads_.begin() + static_cast<std::ptrdiff_t>(index));
    return read;
  }

  const test::SimFileSystem& files_;
  std::vector<Read> reads_;
};

// Counts how often it was told to look again.
class CountingWaiter final : public ColdReads::Waiter {
 public:
  void on_read_progress() override { ++calls; }
  int calls = 0;
};

}  // namespace gyre::storage
