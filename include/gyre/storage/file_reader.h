// FileReader: reads files without making the shard wait. The relay's goes through the shard's ring
// (relay/ring_file_reader.h); storage knows no more of it than this.
#pragma once

#include <cstdint>
#include <span>

#include "gyre/storage/file.h"

namespace gyre::storage {

class FileReader {
 public:
  class Owner {
   public:
    // `result`: the bytes read, fewer than asked for at the end of the file or after an
    // interruption, or -errno.
    virtual void on_read(std::uint32_t number, std::int32_t result) = 0;

   protected:
    ~Owner() = default;
  };

  virtual ~FileReader() = default;

  // Reads from `offset` into `out`. The owner hears of the end once, in a later step of the shard's
  // turn, never inside this call. Until then `file` and `out` must live. `number` is the owner's
  // and in use for one read at a time.
  virtual void read(std::uint32_t number, const File& file, std::uint64_t offset,
                    std::span<std::uint8_t> out, Owner& owner) = 0;
};

}  // namespace gyre::storage
