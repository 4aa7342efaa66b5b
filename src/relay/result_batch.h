// ResultBatch: stored events on their way from owner to asker, in one block of SharedBytes.
//
// Each entry: u32 bytes of the packed event, then the event, padded to 4. Owners copy out of their
// log, so the asker never touches another shard's memory map; the asker's connections may keep the
// block while a large body of it is being sent.
#pragma once

#include <cstdint>
#include <cstring>

#include "gyre/base/shared_bytes.h"
#include "gyre/nostr/packed_event.h"

namespace gyre::relay {

class ResultBatchWriter {
 public:
  // A batch is sent when it has grown to this: enough to amortise a message, little to hold.
  static constexpr std::size_t kFullBytes = 64 * 1024;

  void append(nostr::PackedEventView event) {
    const auto bytes = static_cast<std::uint32_t>(event.bytes().size());
    const std::uint32_t padded_bytes = (bytes + 3u) & ~3u;
    std::uint8_t* const place = block_.extend(sizeof bytes + padded_bytes);
    std::memcpy(place, &bytes, sizeof bytes);
    std::memcpy(place + sizeof bytes, event.bytes().data(), bytes);
    std::memset(place + sizeof bytes + bytes, 0, padded_bytes - bytes);
  }
  [[nodiscard]] bool is_empty() const { return block_.size() == 0; }
  [[nodiscard]] bool is_full() const { return block_.size() >= kFullBytes; }
  [[nodiscard]] SharedBytes take() { return block_.take(); }

 private:
  SharedBytesWriter block_;
};

class ResultBatchReader {
 public:
  ResultBatchReader() = default;
  explicit ResultBatchReader(SharedBytes block) : block_(std::move(block)) {}

  [[nodiscard]] bool is_at_end() const { return block_.is_null() || offset_ >= block_.size(); }
  // Requires: !is_at_end().
  [[nodiscard]] nostr::PackedEventView event() const {
    return nostr::PackedEventView(block_.data() + offset_ + sizeof(std::uint32_t));
  }
  void advance() {
    std::uint32_t bytes;
    std::memcpy(&bytes, block_.data() + offset_, sizeof bytes);
    offset_ += sizeof bytes + ((bytes + 3u) & ~3u);
  }
  [[nodiscard]] const SharedBytes& block() const { return block_; }

 private:
  SharedBytes block_;
  std::size_t offset_ = 0;
};

}  // namespace gyre::relay
