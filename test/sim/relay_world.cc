#include "sim/relay_world.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <sstream>

#include "gyre/base/assert.h"
#include "gyre/relay/messages.h"

namespace gyre::test {

// Passes everything on and notes when the shard would have slept.
class RelayWorld::SleepyIo final : public runtime::Io {
 public:
  explicit SleepyIo(runtime::Io& io) : io_(io) {}

  void submit_accept(int listener, runtime::Completion& completion) override {
    io_.submit_accept(listener, completion);
  }
  void submit_recv(int socket, runtime::Completion& completion) override {
    io_.submit_recv(socket, completion);
  }
  void submit_send(int socket, std::span<const iovec> slices,
                   runtime::Completion& completion) override {
    io_.submit_send(socket, slices, completion);
  }
  void submit_read(int file, std::uint64_t offset, std::span<std::uint8_t> out,
                   runtime::Completion& completion) override {
    io_.submit_read(file, offset, out, completion);
  }
  void cancel(runtime::Completion& completion) override { io_.cancel(completion); }
  void shutdown(int socket) override { io_.shutdown(socket); }
  void close(int descriptor) override { io_.close(descriptor); }
  runtime::Address peer_address(int socket) override { return io_.peer_address(socket); }
  void wake(ShardId shard) override { io_.wake(shard); }
  runtime::Waker& waker() override { return io_.waker(); }
  void reap() override { io_.reap(); }
  bool run(std::size_t budget) override { return io_.run(budget); }
  void enter(Wait wait, std::uint64_t deadline_ns) override {
    is_asleep = wait == Wait::kSleep;
    wakes_at_ns = deadline_ns;
    io_.enter(wait, deadline_ns);
  }
  runtime::IoCounters counters() const override { return io_.counters(); }

  bool is_asleep = false;
  std::uint64_t wakes_at_ns = 0;

 private:
  runtime::Io& io_;
};

struct RelayWorld::Shard {
  Shard(RelayWorld& world, ShardId id_given, std::unique_ptr<storage::Store> store_given)
      : id(id_given),
        io(world.network_.io(id)),
        port(world.mesh_, id),
        timers(world.clock_.monotonic_ns()),
        store(std::move(store_given)) {
    relay.emplace(relay::RelayShard::Environment{io, port, timers, world.busy_clock_, world.random_,
                                                 *store, world.common_, world.data_->key()},
                  world.options_.settings);
    relay->start_listening(world.network_.listener(id));
    loop.emplace(io, world.busy_clock_, port, timers, *relay, runtime::Shard::Options());
  }

  const ShardId id;
  SleepyIo io;
  runtime::MeshPort port;
  runtime::TimerWheel timers;
  std::unique_ptr<storage::Store> store;
  std::optional<relay::RelayShard> relay;
  std::optional<runtime::Shard> loop;
};

std::string WorldOptions::to_string() const {
  std::ostringstream text;
  text << shards << " shards, " << request_slots << "/" << reply_slots << " slots, socket "
       << network.socket_buffer_bytes << " B, receives " << network.receive_bytes_max
       << " B, table " << store.postings.table_postings_max << ", tail " << store.log.tail_bytes_max
       << ", resident " << store.log.resident_bytes << ", reads late " << network.read_delay_percent
       << " short " << network.short_read_percent << " failed " << network.read_error_percent
       << " %, durability " << static_cast<int>(store.log.durability) << ", send queue "
       << settings.limits.net.send_queue_bytes << ", in flight " << settings.limits.events_in_flight
       << ", gather " << settings.limits.gather_us << " us, verify queue "
       << settings.limits.verify_queue << ", limits " << settings.limits.filter_limit_default << "/"
       << settings.limits.filter_limit_max << ", subscriptions " << settings.limits.subscriptions
       << ", query " << settings.limits.query_time_ns / 1'000'000 << " ms, clock step "
       << clock_step_ns << " ns, " << (lets_sleep ? "sleepy" : "restless");
  return text.str();
}

RelayWorld::RelayWorld(const WorldOptions& options, SimClock& clock, SimFileSystem& disk,
                       Random& random)
    : options_(options),
      clock_(clock),
      busy_clock_(clock, options.clock_step_ns),
      disk_(disk),
      random_(random),
      network_(options.shards, random, options.network),
      mesh_(options.shards, options.request_slots, options.reply_slots),
      common_(options.shards) {
  network_.set_file_reader([this](int file, std::uint64_t offset, std::span<std::uint8_t> out) {
    return disk_.read_open_file(file, offset, out);
  });
}

RelayWorld::~RelayWorld() {
  for (const auto& shard : shards_) {
    shard->loop.reset();
    shard->relay.reset();
  }
  drop_messages();
}

// Whatever was on its way between shards.
void RelayWorld::drop_messages() {
  for (const auto& shard : shards_) shard->port.flush(shard->io);
  for (const auto& shard : shards_) {
    ShardId from = 0;
    runtime::MeshSlot slot;
    while (shard->port.try_take_request(from, slot)) relay::drop_message(slot);
    while (shard->port.try_take_reply(from, slot)) relay::drop_message(slot);
  }
}

bool RelayWorld::start() {
  const auto check = [this](const absl::Status& status) {
    if (disk_.is_powered_off()) return false;
    if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
    GYRE_ASSERT(status.ok());
    return true;
  };
  auto data = storage::DataDirectory::open(disk_, "store", options_.shards, random_);
  if (!check(data.status())) return false;
  data_ = *std::move(data);
  std::vector<std::unique_ptr<storage::Store>> stores;
  for (std::uint32_t i = 0; i < options_.shards; ++i) {
    auto store = storage::Store::open(disk_, *data_, static_cast<ShardId>(i), options_.store,
                                      busy_clock_, random_);
    if (!check(store.status())) return false;
    stores.push_back(*std::move(store));
  }
  for (std::uint32_t i = 0; i < options_.shards; ++i) {
    shards_.push_back(
        std::make_unique<Shard>(*this, static_cast<ShardId>(i), std::move(stores[i])));
  }
  return true;
}

net::ConnectionCounters RelayWorld::counters() const {
  net::ConnectionCounters sum;
  for (const auto& shard : shards_) {
    const net::ConnectionCounters& counters = shard->relay->connection_counters();
    sum.accepted += counters.accepted;
    sum.slow_client_drops += counters.slow_client_drops;
    sum.pong_timeouts += counters.pong_timeouts;
    sum.handshake_timeouts += counters.handshake_timeouts;
    sum.protocol_errors += counters.protocol_errors;
    sum.messages_received += counters.messages_received;
  }
  return sum;
}

const storage::Store& RelayWorld::store(ShardId shard) const { return *shards_[shard]->store; }

std::size_t RelayWorld::running_query_count() const {
  std::size_t count = 0;
  for (const auto& shard : shards_) count += shard->relay->running_query_count();
  return count;
}

bool RelayWorld::has_reason_to_turn(const Shard& shard) const {
  return !shard.io.is_asleep || shard.port.has_incoming() || network_.has_work_for(shard.id) ||
         shard.io.wakes_at_ns <= clock_.monotonic_ns();
}

bool RelayWorld::turn(ShardId id) {
  Shard& shard = *shards_[id];
  if (!shard.relay || shard.relay->is_finished()) return false;
  if (options_.lets_sleep && !has_reason_to_turn(shard)) return false;
  shard.loop->turn(true);
  return true;
}

bool RelayWorld::run_background(ShardId id) {
  Shard& shard = *shards_[id];
  if (!shard.store->run_background_once()) return false;
  shard.io.waker().wake();
  return true;
}

void RelayWorld::compact_all(ShardId id) { shards_[id]->store->start_compacting_all(); }

bool RelayWorld::is_idle() const {
  for (const auto& shard : shards_) {
    if (!shard->relay->is_finished() && has_reason_to_turn(*shard)) return false;
    if (shard->store->is_working()) return false;
  }
  return true;
}

void RelayWorld::send_control(relay::ControlMessage::Type type) {
  for (const auto& shard : shards_) {
    GYRE_ASSERT(shard->relay->control().try_push({type, nullptr}));
    shard->relay->control().publish();
    shard->io.waker().wake();
  }
}

void RelayWorld::drain() { send_control(relay::ControlMessage::Type::kDrain); }

bool RelayWorld::is_drained() const {
  return std::all_of(shards_.begin(), shards_.end(),
                     [](const auto& shard) { return shard->relay->is_drained(); });
}

void RelayWorld::stop() { send_control(relay::ControlMessage::Type::kStop); }

bool RelayWorld::is_finished() const {
  return std::all_of(shards_.begin(), shards_.end(),
                     [this](const auto& shard) { return is_finished(shard->id); });
}

bool RelayWorld::is_finished(ShardId id) const {
  const Shard& shard = *shards_[id];
  return !shard.relay || shard.relay->is_finished();
}

void RelayWorld::end_thread(ShardId id) {
  Shard& shard = *shards_[id];
  GYRE_ASSERT(shard.relay && shard.relay->is_finished());
  shard.loop.reset();
  shard.relay.reset();
}

void RelayWorld::close() {
  GYRE_ASSERT(is_finished());
  for (const auto& shard : shards_) {
    const absl::Status status = shard->store->close();
    GYRE_ASSERT(status.ok());
  }
}

}  // namespace gyre::test
