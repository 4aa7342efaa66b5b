// What a shard holds that another store must have to be the same: events that are alive, and of the
// dead what goes on refusing others.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "gyre/base/bytes.h"
#include "gyre/nostr/packed_event.h"
#include "gyre/storage/directory.h"
#include "gyre/storage/file.h"

namespace gyre::storage {

// A version of an address that is dead and gone, and not superseded by a newer one.
struct AddressMark {
  std::uint64_t address = 0;  // Term; by the store's key.
  std::uint64_t created_at = 0;
  std::uint64_t id_prefix = 0;
  Bytes32 pubkey;
};

class ShardContents {
 public:
  virtual ~ShardContents() = default;
  // In the order of storing. Views live until the call returns; a status ends the reading.
  [[nodiscard]] virtual absl::Status take_alive(nostr::PackedEventView event) = 0;
  // A dead version of an address that goes on refusing older ones.
  [[nodiscard]] virtual absl::Status take_dead_version(nostr::PackedEventView event) = 0;
  // A deletion or vanish request that is dead, or stored in another shard.
  [[nodiscard]] virtual absl::Status take_tombstones(nostr::PackedEventView request) = 0;
  [[nodiscard]] virtual absl::Status take_address_mark(const AddressMark& mark) = 0;
  // Any other dead event.
  virtual void drop() = 0;
  [[nodiscard]] virtual absl::Status advance(std::uint64_t bytes) = 0;
};

// Reads the log from one end to the other; `directory` is the open store's and says who is dead.
// kDataLoss, with the cure, where the log is damaged.
[[nodiscard]] absl::Status read_contents(FileSystem& files, std::string_view folder,
                                         const Directory& directory, ShardContents& contents);

}  // namespace gyre::storage
