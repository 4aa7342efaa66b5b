#include "app/offline_store.h"

#include <string>

#include "gyre/storage/file.h"

namespace gyre::app {

absl::StatusOr<std::unique_ptr<OfflineStore>> OfflineStore::open(
    const std::string& path, Mode mode, std::uint32_t shard_count,
    const storage::StoreOptions& options, const Clock* clock) {
  storage::FileSystem& files = storage::posix_file_system();
  if (mode == Mode::kMustExist && !files.exists(path + "/gyre-store")) {
    return absl::NotFoundError("there is no store at " + path +
                               "; name the folder that `gyre relay` uses (store.path)");
  }
  auto offline = std::make_unique<OfflineStore>();
  auto data = storage::DataDirectory::open(files, path, shard_count, offline->random_);
  if (!data.ok()) return data.status();
  offline->data_ = *std::move(data);
  for (std::uint32_t i = 0; i < offline->data_->shard_count(); ++i) {
    auto store =
        storage::Store::open(files, *offline->data_, static_cast<ShardId>(i), options,
                             clock == nullptr ? offline->clock_ : *clock, offline->random_);
    if (!store.ok()) return store.status();
    offline->stores_.push_back(*std::move(store));
  }
  return offline;
}

absl::Status OfflineStore::close() {
  absl::Status status;
  for (const auto& store : stores_) status.Update(store->close());
  return status;
}

}  // namespace gyre::app
