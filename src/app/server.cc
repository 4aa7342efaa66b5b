#include "app/server.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <latch>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "app/settings_from_config.h"
#include "app/shard_thread.h"
#include "gyre/base/assert.h"
#include "gyre/base/log.h"
#include "gyre/net/listener.h"
#include "gyre/runtime/memory_limit.h"
#include "gyre/runtime/topology.h"
#include "gyre/storage/file.h"

namespace gyre::app {
namespace {

// Slots of one mesh ring. 64 bytes each, two rings a pair: 4 shards take 4 MiB.
constexpr std::size_t kRequestSlots = 1024;
constexpr std::size_t kReplySlots = 4096;

class Server {
 public:
  Server(const ConfigSources& sources, const Config& config) : sources_(sources), config_(config) {}

  [[nodiscard]] absl::Status run();

 private:
  [[nodiscard]] absl::Status start_shards();
  void log_start() const;
  void serve_signals();
  void reload();
  void drain();
  [[nodiscard]] absl::Status join_shards();

  const ConfigSources& sources_;
  Config config_;
  std::string listen_;  // As bound.
  relay::Settings settings_;
  storage::StoreOptions store_options_;
  SystemClock clock_;
  SystemRandom random_;
  std::unique_ptr<storage::DataDirectory> data_;
  std::vector<int> listeners_;
  std::unique_ptr<runtime::Mesh> mesh_;
  std::unique_ptr<runtime::UringSet> rings_;
  std::unique_ptr<relay::RelayCommon> common_;
  std::unique_ptr<std::latch> opened_;
  std::latch decided_{1};
  std::atomic<bool> may_serve_{false};
  std::latch silent_{1};
  std::unique_ptr<ShardThread::Shared> shared_;
  std::vector<std::unique_ptr<ShardThread>> shards_;
  sigset_t signals_{};
};

// Every connection takes a descriptor; so do rings, a reserve, and each file of the store, whose
// number grows with it: so as many as are allowed.
void raise_descriptor_limit(std::uint32_t connections_max) {
  const rlim_t wanted = rlim_t{connections_max} + 1024;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  rlimit raised = limit;
  raised.rlim_cur = raised.rlim_max = std::max(limit.rlim_max, wanted);
  if (setrlimit(RLIMIT_NOFILE, &raised) == 0) return;
  raised = limit;
  raised.rlim_cur = limit.rlim_max;  // Without the privilege to raise the hard limit.
  (void)setrlimit(RLIMIT_NOFILE, &raised);
  if (raised.rlim_cur >= wanted) return;
  GYRE_LOG(kWarning,
           "limits.connections = %u needs %" PRIu64 " open files, but only %" PRIu64
           " are allowed; raise LimitNOFILE (systemd), `ulimit -n` or fs.nr_open",
           connections_max, static_cast<std::uint64_t>(wanted),
           static_cast<std::uint64_t>(raised.rlim_cur));
}

absl::Status Server::run() {
  // Blocked before any thread exists, so that only serve_signals() ever sees them.
  sigemptyset(&signals_);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) sigaddset(&signals_, signal);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  signal(SIGPIPE, SIG_IGN);
  set_log_level(config_.log.level);

  if (absl::Status status = runtime::check_uring_available(); !status.ok()) return status;
  raise_descriptor_limit(config_.limits.connections);

  const std::uint32_t wanted_shards =
      config_.relay.shards != 0 ? config_.relay.shards
                                : static_cast<std::uint32_t>(runtime::usable_cores().size());
  auto data = storage::DataDirectory::open(storage::posix_file_system(), config_.store.path,
                                           wanted_shards, random_);
  if (!data.ok()) return data.status();
  data_ = *std::move(data);
  if (data_->shard_count() != wanted_shards) {
    GYRE_LOG(kWarning,
             "the store at %s was made for %u shards; gyre runs with that count instead of %u. "
             "Export it and import it into a new store to change it",
             config_.store.path.c_str(), data_->shard_count(), wanted_shards);
  }

  absl::Status status = check_for_shards(config_, data_->shard_count());
  if (!status.ok()) return status;

  const auto address = runtime::Address::parse(config_.net.listen);
  GYRE_ASSERT(address.has_value());  // load_config() has checked it.
  auto listeners = net::open_listeners(*address, data_->shard_count());
  if (!listeners.ok()) return listeners.status();
  listeners_ = *std::move(listeners);
  listen_ = net::local_address(listeners_.front()).to_string();

  if (status = start_shards(); !status.ok()) return status;
  log_start();
  std::printf("listening on %s\n", listen_.c_str());
  std::fflush(stdout);
  serve_signals();
  drain();
  return join_shards();
}

absl::Status Server::start_shards() {
  const std::uint32_t count = data_->shard_count();
  const std::uint64_t memory_bytes = runtime::memory_limit_bytes();
  settings_ = relay_settings(config_, listen_, count);
  store_options_ = store_options(config_);
  mesh_ = std::make_unique<runtime::Mesh>(count, kRequestSlots, kReplySlots);
  rings_ = std::make_unique<runtime::UringSet>(count);
  common_ = std::make_unique<relay::RelayCommon>(count);
  opened_ = std::make_unique<std::latch>(count);
  shared_.reset(new ShardThread::Shared{*data_,
                                        store_options_,
                                        settings_,
                                        *mesh_,
                                        *rings_,
                                        *common_,
                                        clock_,
                                        [this, count, memory_bytes](std::uint64_t index_bytes) {
                                          return resident_bytes_of_shard(config_, memory_bytes,
                                                                         count, index_bytes);
                                        },
                                        {.spin_ns = std::uint64_t{config_.runtime.spin_us} * 1'000},
                                        config_.runtime.pin,
                                        *opened_,
                                        decided_,
                                        may_serve_,
                                        silent_});
  for (std::uint32_t i = 0; i < count; ++i) {
    shards_.push_back(
        std::make_unique<ShardThread>(*shared_, static_cast<ShardId>(i), listeners_[i]));
  }
  for (const auto& shard : shards_) shard->start();
  opened_->wait();

  absl::Status failure;
  for (const auto& shard : shards_) failure.Update(shard->opening().status);
  may_serve_.store(failure.ok(), std::memory_order_release);
  decided_.count_down();
  if (failure.ok()) return failure;
  silent_.count_down();
  for (const auto& shard : shards_) shard->join();
  for (const int listener : listeners_) close(listener);
  return failure;
}

void Server::log_start() const {
  std::uint64_t torn_bytes = 0;
  std::uint64_t log_bytes = 0;
  std::uint64_t index_bytes = 0;
  std::uint64_t resident_bytes = 0;
  for (const auto& shard : shards_) {
    const ShardThread::Opening& opening = shard->opening();
    torn_bytes += opening.torn_bytes;
    log_bytes += opening.log_bytes;
    index_bytes += opening.index_bytes;
    resident_bytes += opening.resident_bytes;
  }
  GYRE_LOG(kInfo, "gyre %s: %zu shards, store %s", settings_.version.c_str(), shards_.size(),
           config_.store.path.c_str());
  if (torn_bytes > 0) {
    GYRE_LOG(kWarning,
             "cut %" PRIu64
             " bytes of unfinished writes from the log; nothing that was "
             "acknowledged was among them",
             torn_bytes);
  }
  GYRE_LOG(kInfo,
           "log %" PRIu64 " MiB, of which the newest %" PRIu64
           " MiB are kept in memory (store.resident_bytes); index %" PRIu64 " MiB",
           log_bytes / kMiB, std::min(log_bytes, resident_bytes) / kMiB, index_bytes / kMiB);
  GYRE_LOG(kInfo, "mesh %zu KiB; one connection at all its limits holds at most %" PRIu64 " KiB",
           mesh_->memory_bytes() / kKiB,
           relay::connection_bytes_max(settings_.limits, data_->shard_count()) / kKiB);
}

void Server::serve_signals() {
  while (true) {
    int signal = 0;
    if (sigwait(&signals_, &signal) != 0) continue;
    if (signal == SIGUSR1) {
      for (const auto& shard : shards_) {
        shard->ask_for_report();
      }
      continue;
    }
    if (signal != SIGHUP) {
      GYRE_LOG(kInfo, "stopping: closing connections");
      return;
    }
    reload();
  }
}

void Server::reload() {
  auto loaded = load_config(sources_);
  if (loaded.ok()) {
    const absl::Status status = check_for_shards(*loaded, data_->shard_count());
    if (!status.ok()) loaded = status;
  }
  if (!loaded.ok()) {
    GYRE_LOG(kError, "reload refused, the old configuration stays: %s",
             std::string(loaded.status().message()).c_str());
    return;
  }
  for (const ConfigChange& change : diff(config_, *loaded)) {
    GYRE_LOG(kInfo, "reload: %s %s -> %s%s", change.key.c_str(), change.before.c_str(),
             change.after.c_str(), change.needs_restart ? " (takes effect after a restart)" : "");
  }
  config_ = merge_reload(config_, *loaded);
  set_log_level(config_.log.level);
  const relay::Settings settings = relay_settings(config_, listen_, data_->shard_count());
  for (const auto& shard : shards_) {
    shard->send({relay::ControlMessage::Type::kReload, new relay::Settings(settings)});
  }
}

// In two steps, since shards serve each other: first every connection of all shards goes, then the
// loops.
void Server::drain() {
  for (const auto& shard : shards_) shard->send({relay::ControlMessage::Type::kDrain, nullptr});
  for (const auto& shard : shards_) {
    while (!shard->is_drained()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  for (const auto& shard : shards_) shard->send({relay::ControlMessage::Type::kStop, nullptr});
  silent_.count_down();
}

absl::Status Server::join_shards() {
  absl::Status status;
  for (const auto& shard : shards_) {
    shard->join();
    status.Update(shard->close_status());
  }
  if (status.ok()) GYRE_LOG(kInfo, "stopped");
  return status;
}

}  // namespace

absl::Status run_server(const ConfigSources& sources, const Config& config) {
  return Server(sources, config).run();
}

}  // namespace gyre::app
