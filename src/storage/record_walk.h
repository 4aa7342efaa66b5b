// RecordWalk: the records of a log with the sequences of their rows.
//
// A base for visitors of a log that is whole, or of as much of it as is.
#pragma once

#include "gyre/nostr/packed_event.h"
#include "storage/log_walk.h"
#include "storage/record.h"

namespace gyre::storage {

// The sequences that a record's row takes up. Nothing is wrong with a record that has none.
[[nodiscard]] inline std::uint32_t rows_of(const LogRecord& record) {
  switch (record.type) {
    case RecordType::kEvent:
    case RecordType::kForeignRequest:
    case RecordType::kAddressMark: return 1;
    case RecordType::kGap: return decode_gap(record.payload.data()).rows;
    case RecordType::kRetire: break;
  }
  return 0;
}

class RecordWalk : public LogVisitor {
 public:
  absl::Status take(const LogRecord& record) final {
    const Sequence sequence = next_;
    next_ += rows_of(record);
    if (record.type == RecordType::kAddressMark) {
      if (const auto mark = decode_address_mark(record.payload)) take_mark(*mark, sequence);
    } else if (record.type == RecordType::kEvent || record.type == RecordType::kForeignRequest) {
      if (const auto decoded = decode_event_record(record.payload)) {
        return take_event(record.type, decoded->event, sequence);
      }
    }
    return absl::OkStatus();
  }
  void take(const DamagedStretch&) override {}
  absl::Status advance(std::uint64_t) override { return absl::OkStatus(); }

 protected:
  virtual absl::Status take_event(RecordType type, nostr::PackedEventView event,
                                  Sequence sequence) = 0;
  virtual void take_mark(const AddressMarkRecord& mark, Sequence sequence) = 0;

 private:
  Sequence next_ = 0;
};

}  // namespace gyre::storage
