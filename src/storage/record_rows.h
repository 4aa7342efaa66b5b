// What records of the log make of the directory's rows: for the store that replays them, and for
// the check that holds a directory against its log.
#pragma once

#include "gyre/nostr/kind.h"
#include "gyre/nostr/packed_event.h"
#include "gyre/storage/directory.h"

namespace gyre::storage {

// Why the event of a record makes others dead.
[[nodiscard]] inline DeathCause death_cause_of(nostr::PackedEventView event) {
  switch (nostr::kind_class(event.kind())) {
    case nostr::KindClass::kReplaceable:
    case nostr::KindClass::kAddressable: return DeathCause::kSuperseded;
    case nostr::KindClass::kRegular:
    case nostr::KindClass::kEphemeral: break;
  }
  return DeathCause::kOther;
}

// Of what takes a sequence and is no event: foreign requests, gaps, address marks.
[[nodiscard]] inline DirectoryRow row_of_no_event(LogPosition position) {
  DirectoryRow row{};
  row.position.value = position.value | kNoEventBit;
  row.flags = kRowDead;
  return row;
}

}  // namespace gyre::storage
