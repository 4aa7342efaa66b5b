// ShardThread: the thread of one shard, from opening its store to closing it.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <thread>

#include "absl/status/status.h"
#include "gyre/base/clock.h"
#include "gyre/base/random.h"
#include "gyre/relay/relay_shard.h"
#include "gyre/relay/settings.h"
#include "gyre/runtime/mesh.h"
#include "gyre/runtime/uring_io.h"
#include "gyre/storage/data_directory.h"
#include "gyre/storage/store.h"

namespace gyre::app {

class ShardThread {
 public:
  // What all shards of a server use; outlives them.
  struct Shared {
    const storage::DataDirectory& data;
    const storage::StoreOptions& store_options;
    const relay::Settings& settings;
    runtime::Mesh& mesh;
    runtime::UringSet& rings;
    relay::RelayCommon& common;
    const Clock& clock;
    // How much of its log a shard keeps in memory, whose index takes so many bytes.
    std::function<std::uint64_t(std::uint64_t index_bytes)> resident_bytes;
    runtime::Shard::Options loop_options;
    bool pins_core;
    // Counted down by each shard when it has opened its store and ring, or failed to.
    std::latch& opened;
    // Counted down once by the server: look at `may_serve` and serve, or end.
    std::latch& decided;
    std::atomic<bool>& may_serve;
    // Counted down once by the server when it will send to no shard any more.
    std::latch& silent;
  };

  // What opening the store told. The store itself belongs to this thread from then on.
  struct Opening {
    absl::Status status;
    std::uint64_t torn_bytes = 0;
    std::uint64_t log_bytes = 0;
    std::uint64_t index_bytes = 0;
    std::uint64_t resident_bytes = 0;  // LogOptions::resident_bytes.
  };

  ShardThread(Shared& shared, ShardId id, int listener);
  ~ShardThread();

  void start();
  void join() { thread_.join(); }

  // After `opened`.
  [[nodiscard]] const Opening& opening() const { return opening_; }
  // After join: what closing the store said.
  [[nodiscard]] const absl::Status& close_status() const { return close_status_; }

  // Server's thread, while the shard serves.
  void send(const relay::ControlMessage& message);
  void ask_for_report();
  [[nodiscard]] bool is_drained() const { return relay_->is_drained(); }

 private:
  void run();
  [[nodiscard]] absl::Status open();
  [[nodiscard]] absl::Status open_store();

  Shared& shared_;
  const ShardId id_;
  const int listener_;
  SystemRandom random_;
  std::unique_ptr<runtime::Io> io_;
  std::unique_ptr<storage::Store> store_;
  std::unique_ptr<runtime::MeshPort> port_;
  std::unique_ptr<runtime::TimerWheel> timers_;
  std::unique_ptr<relay::RelayShard> relay_;
  Opening opening_;
  absl::Status close_status_;
  std::thread thread_;
};

}  // namespace gyre::app
