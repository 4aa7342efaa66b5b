// RecordFetch: the one cold record that a decision waits for, from try to try.
#pragma once

#include "gyre/nostr/packed_event.h"
#include "gyre/storage/cold_reads.h"
#include "storage/record.h"

namespace gyre::storage {

class RecordFetch {
 public:
  // False while the record at `position` is being read; the turn in which it is there, ask again.
  // `event` is null if it cannot be read, and lives until the next call. A call for another
  // position forgets this one. Requires: the record is cold.
  [[nodiscard]] bool fetch(ColdReads& reads, const EventLog& log, LogPosition position,
                           nostr::PackedEventView& event) {
    if (read_.is_null() || position_ != position) {
      read_.reset();
      // Without room there are reads under way, each of which brings another turn.
      read_ = reads.start_ahead(position);
      position_ = position;
    }
    if (read_.is_null()) return false;
    switch (reads.need(read_, nullptr)) {
      case ColdReads::State::kReading: return false;
      case ColdReads::State::kUnreadable: event = {}; return true;
      case ColdReads::State::kReady: break;
    }
    event = event_of_record(reads.payload(read_));
    if (event.is_null()) log.report_damage(position);
    return true;
  }
  void forget() { read_.reset(); }

 private:
  LogPosition position_;
  ColdRead read_;
};

}  // namespace gyre::storage
