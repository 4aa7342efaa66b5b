#include "app/shard_thread.h"

#include <pthread.h>

#include <cstdio>
#include <string>
#include <vector>

#include "gyre/base/assert.h"
#include "gyre/base/log.h"
#include "gyre/runtime/topology.h"
#include "gyre/storage/file.h"

namespace gyre::app {

ShardThread::ShardThread(Shared& shared, ShardId id, int listener)
    : shared_(shared), id_(id), listener_(listener) {}

ShardThread::~ShardThread() { GYRE_ASSERT(!thread_.joinable()); }

void ShardThread::start() {
  thread_ = std::thread([this] { run(); });
}

absl::Status ShardThread::open() {
  char name[16];
  std::snprintf(name, sizeof name, "gyre-%u", static_cast<unsigned>(id_));
  pthread_setname_np(pthread_self(), name);
  if (shared_.pins_core) {
    const std::vector<int> cores = runtime::usable_cores();
    if (absl::Status status = runtime::pin_to_core(cores[id_ % cores.size()]); !status.ok()) {
      GYRE_LOG(kWarning, "%s", std::string(status.message()).c_str());
    }
  }

  if (absl::Status status = open_store(); !status.ok()) return status;
  auto io = runtime::make_uring_io(id_, shared_.rings, {});
  if (!io.ok()) return io.status();
  io_ = *std::move(io);

  port_ = std::make_unique<runtime::MeshPort>(shared_.mesh, id_);
  timers_ = std::make_unique<runtime::TimerWheel>(shared_.clock.monotonic_ns());
  relay_ = std::make_unique<relay::RelayShard>(
      relay::RelayShard::Environment{*io_, *port_, *timers_, shared_.clock, random_, *store_,
                                     shared_.common, shared_.data.key()},
      shared_.settings);
  return absl::OkStatus();
}

absl::Status ShardThread::open_store() {
  auto store = storage::Store::open(storage::posix_file_system(), shared_.data, id_,
                                    shared_.store_options, shared_.clock, random_);
  if (!store.ok()) return store.status();
  store_ = *std::move(store);
  const storage::StoreStatistics statistics = store_->statistics();
  opening_.torn_bytes = store_->recovery().torn_bytes;
  opening_.log_bytes = statistics.log_bytes;
  opening_.index_bytes = statistics.index_bytes;
  opening_.resident_bytes = shared_.resident_bytes(statistics.index_bytes);
  store_->set_resident_bytes(opening_.resident_bytes);
  return absl::OkStatus();
}

void ShardThread::run() {
  opening_.status = open();
  shared_.opened.count_down();
  shared_.decided.wait();
  if (shared_.may_serve.load(std::memory_order_acquire)) {
    store_->start_threads([this] { io_->waker().wake(); });
    relay_->start_listening(listener_);
    runtime::Shard(*io_, shared_.clock, *port_, *timers_, *relay_, shared_.loop_options).run();
  }
  if (store_ != nullptr) close_status_ = store_->close();
  // The server may still be about to wake this shard for the message that ended it.
  shared_.silent.wait();
  // The ring belongs to this thread and has to end in it.
  relay_.reset();
  io_.reset();
}

void ShardThread::ask_for_report() {
  relay_->ask_for_report();
  io_->waker().wake();
}

void ShardThread::send(const relay::ControlMessage& message) {
  // 16 slots, and a shard that does not take them is not turning at all.
  GYRE_ASSERT(relay_->control().try_push(message));
  relay_->control().publish();
  io_->waker().wake();
}

}  // namespace gyre::app
