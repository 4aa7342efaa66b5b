// RelayWorld: a relay of several shards on one thread: simulated network, disk and time, and a
// scheduler that turns shards in any order.
//
// A shard that has gone to sleep is turned only when something would have woken it: that a relay
// gets everything done this way is what shows that no wake-up is lost.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gyre/base/random.h"
#include "gyre/relay/relay_shard.h"
#include "support/sim_clock.h"
#include "support/sim_file_system.h"
#include "support/sim_io.h"

namespace gyre::test {

// Time that goes on a little whenever somebody looks, so that work takes time.
class BusyClock final : public Clock {
 public:
  BusyClock(SimClock& clock, std::uint64_t step_ns) : clock_(clock), step_ns_(step_ns) {}
  [[nodiscard]] std::uint64_t monotonic_ns() const override {
    clock_.advance_ns(step_ns_);
    return clock_.monotonic_ns();
  }
  [[nodiscard]] std::int64_t unix_s() const override { return clock_.unix_s(); }

 private:
  SimClock& clock_;
  const std::uint64_t step_ns_;
};

struct WorldOptions {
  std::uint32_t shards = 3;
  std::size_t request_slots = 1024;
  std::size_t reply_slots = 4096;
  std::uint64_t clock_step_ns = 0;
  bool lets_sleep = true;  // Sleeping shards are left alone.
  SimNetwork::Options network;
  storage::StoreOptions store;
  relay::Settings settings;

  [[nodiscard]] std::string to_string() const;
};

class RelayWorld {
 public:
  RelayWorld(const WorldOptions& options, SimClock& clock, SimFileSystem& disk, Random& random);
  RelayWorld(const RelayWorld&) = delete;
  RelayWorld& operator=(const RelayWorld&) = delete;
  // Without stop(): as the death of the process.
  ~RelayWorld();

  // False if the power failed on the way. Any other failure ends the program.
  [[nodiscard]] bool start();

  [[nodiscard]] std::uint32_t shard_count() const { return options_.shards; }
  [[nodiscard]] SimNetwork& network() { return network_; }
  [[nodiscard]] const storage::Store& store(ShardId shard) const;
  [[nodiscard]] net::ConnectionCounters counters() const;
  [[nodiscard]] std::size_t running_query_count() const;

  // One turn of the shard, if it is awake or has a reason to wake up; true if it took place.
  bool turn(ShardId shard);
  // One step of the shard's log writer and checkpoint worker; true if there was one to do.
  bool run_background(ShardId shard);
  // Begins to compact all of the shard's log that can be.
  void compact_all(ShardId shard);

  // Nothing will happen any more before time goes on or a client acts.
  [[nodiscard]] bool is_idle() const;

  // As the server does it, in two steps with turns in between.
  void drain();
  [[nodiscard]] bool is_drained() const;
  void stop();
  [[nodiscard]] bool is_finished() const;
  [[nodiscard]] bool is_finished(ShardId shard) const;
  // Closes the stores. Requires: is_finished().
  void close();

  // The end of one shard's thread, whatever the others do. Requires: it is finished.
  void end_thread(ShardId shard);

 private:
  class SleepyIo;
  struct Shard;

  [[nodiscard]] bool has_reason_to_turn(const Shard& shard) const;
  void send_control(relay::ControlMessage::Type type);
  void drop_messages();

  const WorldOptions options_;
  SimClock& clock_;
  BusyClock busy_clock_;
  SimFileSystem& disk_;
  Random& random_;
  SimNetwork network_;
  runtime::Mesh mesh_;
  relay::RelayCommon common_;
  std::unique_ptr<storage::DataDirectory> data_;
  std::vector<std::unique_ptr<Shard>> shards_;
};

}  // namespace gyre::test
