#include "sim/simulation.h"

#include <algorithm>
#include <map>

#include "gyre/base/assert.h"
#include "gyre/base/ids.h"

namespace gyre::test {
namespace {

constexpr std::size_t kCorpusSize = 300;
constexpr std::size_t kClientsMax = 8;
// More turns than any backlog of a run takes; what has not settled by then never does.
constexpr std::uint64_t kSettleRoundsMax = 4'000'000;

class EverythingIsReadable final : public storage::ReadAccess {
 public:
  [[nodiscard]] bool may_read(nostr::PackedEventView) const override { return true; }
  [[nodiscard]] std::span<const std::uint16_t> restricted_kinds() const override { return {}; }
  [[nodiscard]] bool may_read_some_restricted() const override { return true; }
};

}  // namespace

Simulation::Simulation(std::uint64_t seed)
    : random_(seed),
      options_(choose_options()),
      corpus_(random_, kCorpusSize, chance(50) ? 2 : 40, clock_.unix_s()),
      ledger_(corpus_) {
  report_.options = options_.to_string();
  start();
}

WorldOptions Simulation::choose_options() {
  const auto one_of = [this]<typename T>(std::initializer_list<T> values) {
    return *(values.begin() + below(values.size()));
  };
  WorldOptions options;
  options.shards = one_of({3u, 3u, 3u, 3u, 1u, 2u, 5u});
  options.request_slots = one_of({8u, 8u, 16u, 1024u});
  options.reply_slots = one_of({8u, 16u, 4096u});
  options.clock_step_ns = one_of({0u, 0u, 20'000u, 300'000u});
  options.lets_sleep = chance(80);
  options.network.socket_buffer_bytes = one_of({100u, 1000u, 65'536u});
  options.network.receive_bytes_max = one_of({40u, 500u, 4096u});
  options.network.delay_percent = one_of({0u, 25u, 60u});

  options.store.postings.table_postings_max = one_of({100u, 400u, 1'000'000u});
  options.store.compaction = {.dead_share = one_of({0.05, 0.4, 1.0}),
                              .gain_bytes_min = 64,
                              .slice_bytes = one_of({2u, 64u}) * kKiB};
  options.store.log.segment_bytes = one_of({64u, 1024u}) * kKiB;
  options.store.log.reserve_bytes = one_of({16u, 256u}) * kKiB;
  options.store.log.tail_bytes_max = one_of({3'000u, 1'000'000u});
  // In half of the runs most records lie on the disk and come late, in pieces, or not at all.
  if (chance(50)) {
    options.store.log.resident_bytes = one_of({0u, 0u, 2'000u, 50'000u});
    options.network.read_delay_percent = one_of({0u, 50u, 95u});
    options.network.short_read_percent = one_of({0u, 30u});
    options.network.read_error_percent = one_of({0u, 0u, 0u, 5u});
  }
  options.store.log.durability = one_of({storage::Durability::kFsync, storage::Durability::kFsync,
                                         storage::Durability::kInterval, storage::Durability::kOs});

  relay::Settings& settings = options.settings;
  settings.urls = {std::string(Corpus::kRelayUrl)};
  settings.gated_kinds = {4, 1059};
  settings.limits.events_in_flight = one_of({2u, 128u});
  settings.limits.verify_queue = one_of({3u, 1024u});
  settings.limits.filter_limit_default = one_of({10u, 500u});
  settings.limits.filter_limit_max = one_of({25u, 5000u});
  settings.limits.subscriptions = one_of({5u, 200u});
  settings.limits.gather_us = one_of({0u, 2'000u, 20'000u});
  settings.limits.net.send_queue_bytes = one_of({64u, 4096u, 4096u}) * kKiB;
  // Of simulated time much goes by while the tiniest buffers pass on what is large.
  settings.limits.net.send_timeout_s = 3600;
  settings.limits.net.pong_timeout_s = 3600;
  if (options.clock_step_ns > 100'000 && chance(50)) {
    settings.limits.query_time_ns = 1'500'000;
    settings.limits.subscriptions = 200;
  }
  settings.expiry_sweep_s = 1;
  return options;
}

ClientLimits Simulation::client_limits() const {
  const relay::Limits& limits = options_.settings.limits;
  ClientLimits out;
  out.filters = {limits.filter_limit_default, limits.filter_limit_max};
  out.subscriptions = limits.subscriptions;
  out.counts = limits.counts_in_flight;
  out.may_be_dropped = limits.net.send_queue_bytes < kMiB;
  out.filters.may_miss_stored = options_.network.read_error_percent > 0;
  out.may_run_out_of_time = limits.query_time_ns < 1'000'000'000;
  return out;
}

void Simulation::start() {
  while (true) {
    // The power may fail while the stores open, where that may cost nothing.
    if (survives_power_failure() && chance(30)) disk_.power_off_after(below(40));
    world_ = std::make_unique<RelayWorld>(options_, clock_, disk_, random_);
    if (world_->start()) break;
    world_.reset();
    disk_.crash(random_);
  }
  disk_.power_off_after(UINT32_MAX);
}

void Simulation::run(std::uint64_t steps) {
  while (steps > 0) {
    slow_shard_ = static_cast<std::uint32_t>(below(2 * options_.shards));
    slow_disk_ = static_cast<std::uint32_t>(below(2 * options_.shards));
    if (chance(15)) fill_disk();
    for (std::uint64_t i = std::min(steps, 50 + below(700)); i > 0; --i, --steps) step();
    switch (below(4)) {
      case 0: crash(); break;
      case 1: restart_in_order(); break;
      default: settle(); break;
    }
  }
  restart_in_order();
}

void Simulation::step() {
  const std::uint64_t choice = below(100);
  if (choice < 55) return turn_some_shard();
  if (choice < 80) return step_client();
  if (choice >= 95) return let_time_pass();
  const auto shard = static_cast<ShardId>(below(world_->shard_count()));
  // These stores are too small to compact much of themselves.
  if (chance(3)) world_->compact_all(shard);
  if (shard != slow_disk_ || chance(5)) (void)world_->run_background(shard);
}

void Simulation::turn_some_shard() {
  const auto shard = static_cast<ShardId>(below(world_->shard_count()));
  if (shard == slow_shard_ && !chance(5)) return;
  if (world_->turn(shard)) ++report_.turns;
}

// While bytes are on their way only a little, else readers would seem slow that are not.
void Simulation::let_time_pass() {
  clock_.advance_ms(world_->network().is_quiet() && chance(20) ? below(4000) : below(3));
}

void Simulation::step_client() {
  if (clients_.size() < kClientsMax && chance(clients_.size() < 3 ? 50 : 3)) {
    clients_.push_back(std::make_unique<Client>(
        world_->network(), corpus_, ledger_, clock_, random_,
        static_cast<ShardId>(below(world_->shard_count())), client_limits()));
    ++report_.clients;
  }
  if (clients_.empty()) return;
  Client& client = *clients_[below(clients_.size())];
  (void)client.receive();
  if (client.is_open()) act(client);
  std::erase_if(clients_, [](const auto& each) { return each->is_gone(); });
}

void Simulation::act(Client& client) {
  const std::uint64_t choice = below(100);
  if (choice < 50) {
    publish_some(client);
  } else if (choice < 65) {
    client.subscribe();
  } else if (choice < 76) {
    client.replace_or_close_subscription();
  } else if (choice < 85) {
    client.count();
  } else if (choice < 92) {
    client.log_in();
  } else {
    disturb(client);
  }
}

// Several at once, as clients do, now and then very many; some of them again.
void Simulation::publish_some(Client& client) {
  const bool are_ephemeral = chance(20);
  for (std::uint64_t i = chance(10) ? 20 + below(40) : 1 + below(4); i > 0; --i) {
    EventIndex index = are_ephemeral ? corpus_.some_ephemeral() : below(corpus_.size());
    if (!recent_.empty() && chance(25)) index = recent_[below(recent_.size())];
    client.publish(index);
    ++report_.sent;
    recent_.push_back(index);
    if (recent_.size() > 8) recent_.erase(recent_.begin());
  }
}

void Simulation::disturb(Client& client) {
  switch (below(12)) {
    case 0:
    case 1: return client.subscribe_badly();
    case 2:
    case 3: return client.talk_nonsense();
    case 4:
    case 5: return client.stop_reading();
    case 6:
    case 7:
    case 8: return client.resume_reading();
    case 9: return client.say_goodbye();
    case 10: return client.hang_up();
    default: return;
  }
}

bool Simulation::receive_all() {
  bool was_anything = false;
  for (const auto& client : clients_) was_anything |= client->receive();
  std::erase_if(clients_, [](const auto& each) { return each->is_gone(); });
  return was_anything;
}

void Simulation::settle() {
  // Nobody may be kept waiting by a full disk, except as Client says.
  if (is_disk_full_) {
    rest();
    clock_.advance_ms(100);
    rest();
    for (const auto& client : clients_) client->check_settled(Client::Disk::kIsFull);
    free_disk();
  }
  rest();
  // Live events may still be waiting for more.
  clock_.advance_ms(100);
  rest();
  for (const auto& client : clients_) client->check_settled(Client::Disk::kHasSpace);
  if (world_->running_query_count() != 0) throw Violation("a query runs for nobody");
  check_stores();
}

// The log looks again for space about once a second.
void Simulation::free_disk() {
  is_disk_full_ = false;
  disk_.set_capacity(UINT64_MAX);
  for (int i = 0; i < 30; ++i) {
    clock_.advance_ms(100);
    rest();
  }
}

void Simulation::fill_disk() {
  is_disk_full_ = true;
  ledger_.note_full_disk();
  disk_.set_capacity(disk_.used_bytes() + below(100'000));
  ++report_.full_disks;
}

void Simulation::rest() {
  for (const auto& client : clients_) client->resume_reading();
  for (std::uint64_t round = 0;; ++round) {
    if (round == kSettleRoundsMax) throw Violation("the relay never comes to rest");
    const auto shard = static_cast<ShardId>(below(world_->shard_count()));
    if (world_->turn(shard)) ++report_.turns;
    if (chance(30)) (void)world_->run_background(shard);
    if (round % 8 != 0) continue;
    if (!receive_all() && world_->is_idle() && world_->network().is_quiet()) return;
  }
}

std::vector<std::string> Simulation::events_in(const storage::Store& store) const {
  static const EverythingIsReadable access;
  const nostr::Filter all;
  // What is on the disk, without a shard that turns until it is read.
  storage::QuerySources sources = store.sources();
  sources.reads = nullptr;
  storage::Scan scan(sources, {&all, 1}, {{UINT64_MAX}, UINT64_MAX}, access, clock_.unix_s());
  std::vector<std::string> events;
  while (true) {
    std::uint64_t budget = 1'000'000;
    storage::Sequence sequence = 0;
    nostr::PackedEventView event;
    if (scan.next(budget, sequence, event) != storage::Scan::Step::kEvent) return events;
    events.emplace_back(event.json());
  }
}

void Simulation::check_stores() {
  std::vector<bool> is_stored(corpus_.size(), false);
  for (std::uint32_t shard = 0; shard < world_->shard_count(); ++shard) {
    for (const std::string& json : events_in(world_->store(static_cast<ShardId>(shard)))) {
      const auto index = corpus_.find(std::string_view(json).substr(7, 64));
      if (!index || corpus_[*index].view().json() != json) throw Violation("stored: " + json);
      const auto wrong = [&](const char* what) {
        throw Violation(what + ledger_.describe(*index));
      };
      if (is_stored[*index]) wrong("stored twice: ");
      is_stored[*index] = true;
      if (!ledger_.may_be_stored(*index)) wrong("stored, but must not be: ");
      if (ledger_.is_surely_dead(*index, kNever)) wrong("stored, but dead: ");
    }
  }
  for (EventIndex index = 0; index < corpus_.size(); ++index) {
    if (is_stored[index]) continue;
    if (ledger_.is_surely_stored(index, kNever, kNever, clock_.unix_s())) {
      throw Violation("acknowledged and lost: " + ledger_.describe(index));
    }
  }
}

// At any moment: the power fails, or where nothing was promised about that, the process dies.
void Simulation::crash() {
  if (survives_power_failure() && chance(50)) {
    // In the midst of the writers' work, of which the shards hear nothing any more.
    disk_.power_off_after(below(6));
    for (int i = 0; i < 20 && !disk_.is_powered_off(); ++i) {
      (void)world_->run_background(static_cast<ShardId>(below(world_->shard_count())));
    }
  }
  count_world();
  clients_.clear();
  world_.reset();
  if (survives_power_failure()) {
    disk_.crash(random_);
  } else {
    disk_.kill_process();
  }
  ++report_.crashes;
  start();
  check_stores();
}

void Simulation::restart_in_order() {
  // Or in the midst of it all.
  if (chance(50)) settle();
  for (const auto& client : clients_) client->expect_end();
  world_->drain();
  for (std::uint64_t round = 0; !world_->is_drained(); ++round) {
    if (round == kSettleRoundsMax) throw Violation("the relay never drains");
    const auto shard = static_cast<ShardId>(below(world_->shard_count()));
    if (world_->turn(shard)) ++report_.turns;
    (void)world_->run_background(shard);
    (void)receive_all();
    // Those who do not answer are waited for; their time must come.
    if (round % 1000 == 999) clock_.advance_s(1);
  }
  for (std::uint32_t shard = 0; shard < world_->shard_count(); ++shard) {
    if (world_->network().open_socket_count(static_cast<ShardId>(shard)) != 0) {
      throw Violation("a socket is left open");
    }
  }
  count_world();
  world_->stop();
  for (std::uint64_t round = 0; !world_->is_finished(); ++round) {
    if (round == kSettleRoundsMax) throw Violation("the relay never stops");
    // As threads do: one ends while another still takes its last messages.
    const auto shard = static_cast<ShardId>(below(world_->shard_count()));
    if (world_->turn(shard) && world_->is_finished(shard)) world_->end_thread(shard);
  }
  world_->close();
  clients_.clear();
  world_.reset();
  disk_.kill_process();
  ++report_.restarts;
  start();
  check_stores();
}

void Simulation::count_world() {
  const net::ConnectionCounters counters = world_->counters();
  for (std::uint32_t shard = 0; shard < world_->shard_count(); ++shard) {
    report_.cold_reads += world_->store(static_cast<ShardId>(shard)).statistics().cold_reads;
  }
  report_.failed_reads += world_->network().failed_read_count();
  report_.messages += counters.messages_received;
  report_.slow_client_drops += counters.slow_client_drops;
}

SimulationReport Simulation::report() const {
  SimulationReport report = report_;
  report.accepted = ledger_.accepted_count();
  return report;
}

}  // namespace gyre::test
