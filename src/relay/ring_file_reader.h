// RingFileReader: storage's reads of files, through the shard's ring.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gyre/runtime/io.h"
#include "gyre/storage/file_reader.h"

namespace gyre::relay {

class RingFileReader final : public storage::FileReader {
 public:
  // `io` outlives the reader, and the reader its last read.
  explicit RingFileReader(runtime::Io& io) : io_(io) {}

  void read(std::uint32_t number, const storage::File& file, std::uint64_t offset,
            std::span<std::uint8_t> out, Owner& owner) override;

 private:
  struct Read {
    Owner* owner = nullptr;
    std::uint32_t number = 0;
    runtime::Completion completion;

    void on_completion(const runtime::CompletionResult& result) {
      owner->on_read(number, result.result);
    }
  };

  runtime::Io& io_;
  std::vector<std::unique_ptr<Read>> reads_;  // By number; as many as were ever under way at once.
};

}  // namespace gyre::relay
