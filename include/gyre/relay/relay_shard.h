// RelayShard: the relay of one core: its connections, sessions, store partition and their wiring to
// the shard's turn. One RelayShard belongs to one shard; the server talks to it through its control
// ring alone.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "gyre/base/clock.h"
#include "gyre/base/random.h"
#include "gyre/base/spsc_ring.h"
#include "gyre/net/connection.h"
#include "gyre/relay/settings.h"
#include "gyre/runtime/io.h"
#include "gyre/runtime/mesh.h"
#include "gyre/runtime/shard.h"
#include "gyre/runtime/timer_wheel.h"
#include "gyre/storage/store.h"

namespace gyre::relay {

class Interest;

// What the shards of one relay share.
class RelayCommon {
 public:
  explicit RelayCommon(std::uint32_t shard_count);
  ~RelayCommon();
  [[nodiscard]] Interest& interest() { return *interest_; }
  [[nodiscard]] net::AdmissionTable& admission() { return admission_; }

 private:
  std::unique_ptr<Interest> interest_;
  net::AdmissionTable admission_;
};

// From the server to a shard.
struct ControlMessage {
  enum class Type : std::uint8_t {
    kReload,  // `settings` is the shard's from now on.
    kDrain,   // Stop accepting, close every connection with 1001; then is_drained().
    kStop,    // End the loop. Every shard must be drained before, since they serve each other.
  };
  Type type = Type::kStop;
  const Settings* settings = nullptr;
};

class RelayShard final : public runtime::ShardProgram {
 public:
  struct Environment {
    runtime::Io& io;
    runtime::MeshPort& port;
    runtime::TimerWheel& timers;
    const Clock& clock;
    Random& random;
    storage::Store& store;
    RelayCommon& common;
    std::array<std::uint8_t, 16> store_key;
  };

  RelayShard(const Environment& environment, const Settings& settings);
  ~RelayShard() override;

  void start_listening(int listener);

  // Server's side: push, publish, then wake the shard.
  [[nodiscard]] SpscRing<ControlMessage>& control() { return control_; }
  // The shard will say in the operator's log how it fares; then wake it. Asked any number of times
  // before it does, it says so once.
  void ask_for_report() { is_report_wanted_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool is_drained() const { return is_drained_.load(std::memory_order_acquire); }

  // runtime::ShardProgram
  void on_reply(ShardId from, const runtime::MeshSlot& slot) override;
  [[nodiscard]] bool can_take_request() override;
  void on_request(ShardId from, const runtime::MeshSlot& slot) override;
  [[nodiscard]] bool work() override;
  void flush_connections() override;
  [[nodiscard]] std::uint64_t next_due_ns() const override;
  [[nodiscard]] bool is_finished() const override;
  void on_turn_end(std::uint64_t turn_ns) override;

  [[nodiscard]] const net::ConnectionCounters& connection_counters() const;
  [[nodiscard]] std::size_t running_query_count() const;

 private:
  struct Parts;
  void take_control_messages();
  void drain();
  void report();
  [[nodiscard]] bool has_drained() const;
  void on_sweep_timer();
  void on_store_timer();
  void on_drain_timer();

  Environment environment_;
  std::unique_ptr<Settings> settings_;
  std::unique_ptr<Parts> parts_;
  SpscRing<ControlMessage> control_{16};
  std::atomic<bool> is_drained_{false};
  std::atomic<bool> is_report_wanted_{false};
  bool is_draining_ = false;
  bool is_stopped_ = false;
  bool is_sweep_due_ = false;
  std::uint64_t longest_turn_ns_ = 0;  // Since the last report.
  bool is_retention_due_ = false;
  runtime::Timer sweep_timer_;
  runtime::Timer store_timer_;
  runtime::Timer drain_timer_;
};

}  // namespace gyre::relay
