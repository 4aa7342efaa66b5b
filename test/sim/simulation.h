// Simulation: one seed's run: a relay, its clients, what they do, and what must hold.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/client.h"
#include "sim/corpus.h"
#include "sim/ledger.h"
#include "sim/relay_world.h"

namespace gyre::test {

struct SimulationReport {
  std::string options;
  std::uint64_t turns = 0;
  std::uint64_t clients = 0;
  std::uint64_t messages = 0;
  std::uint64_t crashes = 0;
  std::uint64_t restarts = 0;
  std::uint64_t slow_client_drops = 0;
  std::uint64_t full_disks = 0;
  std::uint64_t cold_reads = 0;
  std::uint64_t failed_reads = 0;
  std::size_t accepted = 0;
  std::size_t sent = 0;
};

class Simulation {
 public:
  explicit Simulation(std::uint64_t seed);

  // Does about `steps` things, with restarts, crashes and checks in between. Throws Violation.
  void run(std::uint64_t steps);
  [[nodiscard]] SimulationReport report() const;

 private:
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return random_.next_u64() % bound; }
  [[nodiscard]] bool chance(std::uint64_t percent) { return below(100) < percent; }
  [[nodiscard]] WorldOptions choose_options();
  [[nodiscard]] ClientLimits client_limits() const;
  [[nodiscard]] bool survives_power_failure() const {
    return options_.store.log.durability == storage::Durability::kFsync;
  }

  void step();
  void step_client();
  void act(Client& client);
  void publish_some(Client& client);
  void disturb(Client& client);
  void turn_some_shard();
  void let_time_pass();
  [[nodiscard]] bool receive_all();

  // Lets everything be done that is under way, while time stands still, and checks it.
  void settle();
  void rest();
  void fill_disk();
  void free_disk();
  void check_stores();
  [[nodiscard]] std::vector<std::string> events_in(const storage::Store& store) const;

  void start();
  void crash();
  void restart_in_order();
  void count_world();

  SeededRandom random_;
  SimClock clock_;
  SimFileSystem disk_;
  const WorldOptions options_;
  Corpus corpus_;
  Ledger ledger_;
  std::unique_ptr<RelayWorld> world_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<EventIndex> recent_;  // Sent a moment ago.
  // For a while one shard hardly turns, or one disk hardly writes; none if it is no shard's.
  std::uint32_t slow_shard_ = 0;
  std::uint32_t slow_disk_ = 0;
  bool is_disk_full_ = false;
  SimulationReport report_;
};

}  // namespace gyre::test
