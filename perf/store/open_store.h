// OpenStore: a store of one shard with its threads, as a shard of the relay has it.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "../load/failure.h"
#include "gyre/base/clock.h"
#include "gyre/base/random.h"
#include "gyre/storage/store.h"

namespace gyre::store_bench {

class OpenStore {
 public:
  OpenStore(const std::string& folder, storage::Durability durability) {
    auto data = storage::DataDirectory::open(storage::posix_file_system(), folder, 1, random_);
    if (!data.ok()) load::fail(data.status().ToString());
    data_ = *std::move(data);
    storage::StoreOptions options;
    options.log.durability = durability;
    auto store =
        storage::Store::open(storage::posix_file_system(), *data_, 0, options, clock_, random_);
    if (!store.ok()) load::fail(store.status().ToString());
    store_ = *std::move(store);
  }

  [[nodiscard]] storage::Store& operator*() { return *store_; }
  [[nodiscard]] storage::Store* operator->() { return store_.get(); }
  [[nodiscard]] const Clock& clock() const { return clock_; }

  void start_threads() {
    store_->start_threads([this] {
      progress_.fetch_add(1);
      progress_.notify_all();
    });
  }
  // Does a turn's work, and waits for the threads if they have something to do.
  void work_and_wait() {
    const std::uint32_t seen = progress_.load();
    store_->work();
    if (store_->is_working()) progress_.wait(seen);
  }
  // Until there is nothing more to do: all is durable, runs are merged.
  void settle() {
    do {
      work_and_wait();
      store_->work();
    } while (store_->is_working());
  }

 private:
  SystemRandom random_;
  SystemClock clock_;
  std::atomic<std::uint32_t> progress_{0};
  std::unique_ptr<storage::DataDirectory> data_;
  std::unique_ptr<storage::Store> store_;
};

}  // namespace gyre::store_bench
