#include "gyre/storage/shard_contents.h"

#include "gyre/nostr/kind.h"
#include "storage/concat.h"
#include "storage/record_walk.h"

namespace gyre::storage {
namespace {

using nostr::PackedEventView;

bool has_address(std::uint16_t kind) {
  const nostr::KindClass kind_class = nostr::kind_class(kind);
  return kind_class == nostr::KindClass::kReplaceable ||
         kind_class == nostr::KindClass::kAddressable;
}

class Reader final : public RecordWalk {
 public:
  Reader(const Directory& directory, ShardContents& contents)
      : directory_(directory), contents_(contents) {}

  absl::Status advance(std::uint64_t bytes) override {
    return damage_.ok() ? contents_.advance(bytes) : damage_;
  }
  using RecordWalk::take;
  void take(const DamagedStretch& damage) override {
    damage_.Update(
        absl::DataLossError(concat(damage.path, " is damaged at offset ", damage.offset, ": ",
                                   damage.what, "; run `gyre check --repair` first")));
  }
  [[nodiscard]] const absl::Status& damage() const { return damage_; }

 protected:
  absl::Status take_event(RecordType type, PackedEventView event, Sequence sequence) override {
    const std::uint16_t flags = directory_.row(sequence).flags;
    const bool is_request =
        event.kind() == nostr::kKindDeletion || event.kind() == nostr::kKindVanish;
    if (type == RecordType::kForeignRequest) return contents_.take_tombstones(event);
    if ((flags & kRowDead) == 0) return contents_.take_alive(event);
    if (is_request) return contents_.take_tombstones(event);
    if (has_address(event.kind()) && (flags & kRowSuperseded) == 0) {
      return contents_.take_dead_version(event);
    }
    contents_.drop();
    return absl::OkStatus();
  }
  void take_mark(const AddressMarkRecord& mark, Sequence sequence) override {
    if ((directory_.row(sequence).flags & kRowSuperseded) != 0) return;
    damage_.Update(
        contents_.take_address_mark({mark.address, mark.created_at, mark.id_prefix, mark.pubkey}));
  }

 private:
  const Directory& directory_;
  ShardContents& contents_;
  absl::Status damage_;
};

}  // namespace

absl::Status read_contents(FileSystem& files, std::string_view folder, const Directory& directory,
                           ShardContents& contents) {
  Reader reader(directory, contents);
  const auto extent = walk_log(files, folder, LogPosition(), reader);
  if (!reader.damage().ok()) return reader.damage();
  return extent.status();
}

}  // namespace gyre::storage
