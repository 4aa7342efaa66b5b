#include "differential/asked_relay.h"

#include <stdexcept>

#include "gyre/base/assert.h"

namespace gyre::test {
namespace {

// A relay that has not come to rest by then never will.
constexpr std::uint64_t kRoundsMax = 50'000'000;

}  // namespace

AskedRelay::AskedRelay(std::uint32_t shards) {
  options_.shards = shards;
  options_.clock_step_ns = 1'000;
  options_.network.socket_buffer_bytes = 1024 * 1024;
  options_.network.receive_bytes_max = 16 * 1024;
  options_.network.delay_percent = 0;
  // So small that there are runs, merges of runs and a table with the rest.
  options_.store.postings.table_postings_max = 1'500;
  options_.store.log.segment_bytes = 256 * 1024;
  options_.store.log.reserve_bytes = 64 * 1024;
  relay::Limits& limits = options_.settings.limits;
  limits.filter_limit_max = 1'000'000;
  limits.filter_limit_default = 1'000'000;
  limits.subscriptions = 1'000'000;
  limits.filter_cost = 100'000'000;
  limits.net.send_queue_bytes = 1024 * 1024 * 1024;
  limits.query_time_ns = UINT64_MAX / 2;
  start();
}

void AskedRelay::start() {
  world_ = std::make_unique<RelayWorld>(options_, clock_, disk_, random_);
  GYRE_ASSERT(world_->start());
}

std::size_t AskedRelay::connect() {
  const auto shard = static_cast<ShardId>(clients_.size() % options_.shards);
  const int handle = world_->network().connect(shard);
  clients_.push_back(std::make_unique<Client>(Client{handle, WebSocketClient(random_)}));
  world_->network().write(handle, WebSocketClient::upgrade_request());
  return clients_.size() - 1;
}

void AskedRelay::send(std::size_t client, const std::string& message) {
  Client& sender = *clients_[client];
  world_->network().write(sender.handle, sender.socket.text_frames(message));
}

void AskedRelay::settle(const Take& take) {
  // Commits may wait a few milliseconds for more.
  for (int i = 0; i < 3; ++i) {
    turn_until_idle(take);
    clock_.advance_ms(5);
  }
}

void AskedRelay::turn_until_idle(const Take& take) {
  for (std::uint64_t round = 0;; ++round) {
    if (round == kRoundsMax) throw std::runtime_error("the relay never comes to rest");
    for (std::uint32_t i = 0; i < options_.shards; ++i) {
      const auto shard = static_cast<ShardId>(i);
      (void)world_->turn(shard);
      (void)world_->run_background(shard);
    }
    if (!receive(take) && world_->is_idle() && world_->network().is_quiet()) return;
  }
}

bool AskedRelay::receive(const Take& take) {
  bool has_received = false;
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    Client& client = *clients_[i];
    const std::string bytes = world_->network().read(client.handle);
    if (bytes.empty()) continue;
    has_received = true;
    client.socket.receive(bytes);
    if (!client.socket.fault().empty()) throw std::runtime_error(client.socket.fault());
    for (const std::string& text : client.socket.take_texts()) {
      const auto message = read_relay_message(text);
      if (!message) throw std::runtime_error("the relay says " + text);
      take(i, *message);
    }
  }
  return has_received;
}

void AskedRelay::restart() {
  const Take ignore = [](std::size_t, const RelayMessageText&) {};
  for (const auto& client : clients_) world_->network().close(client->handle);
  turn_until_idle(ignore);
  world_->drain();
  while (!world_->is_drained()) {
    turn_until_idle(ignore);
    clock_.advance_ms(100);
  }
  world_->stop();
  while (!world_->is_finished()) {
    for (std::uint32_t i = 0; i < options_.shards; ++i) (void)world_->turn(static_cast<ShardId>(i));
  }
  world_->close();
  clients_.clear();
  world_.reset();
  start();
}

std::uint64_t AskedRelay::runs() const {
  std::uint64_t runs = 0;
  for (std::uint32_t i = 0; i < options_.shards; ++i) {
    runs += world_->store(static_cast<ShardId>(i)).statistics().runs;
  }
  return runs;
}

}  // namespace gyre::test
