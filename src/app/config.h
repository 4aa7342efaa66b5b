// Config: everything an operator can set, each with its default.
//
// A value comes from, in rising order of precedence: the default below, a TOML file, the
// environment (GYRE_SECTION_KEY), and --set SECTION.KEY=VALUE. What may be set, its bounds, its
// documentation and whether a running relay can take it over stand in one table (config_key.cc),
// from which parsing, checking, printing and comparing are derived.
//
// Used at start and on SIGHUP only, by the main thread; shards get values, never this struct.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gyre/base/log.h"

namespace gyre::app {

// When an event counts as stored, so that it may be acknowledged (README, "Durability").
enum class Durability : std::uint8_t { kFsync, kInterval, kOs };

// The upper bound of limits.message_bytes: offsets within a packed event have 24 bits.
inline constexpr std::uint32_t kMessageBytesMax = 0x00ff'ffff;

struct Config {
  struct Net {
    std::string listen = "127.0.0.1:7447";
    std::string base_path = "/";
    std::vector<std::string> trusted_proxies;
    std::uint32_t handshake_timeout_s = 10;
    std::uint32_t ping_s = 30;
    std::uint32_t pong_timeout_s = 30;
    std::uint32_t send_timeout_s = 30;
    std::uint32_t close_timeout_s = 5;
    std::uint32_t gather_us = 2'000;  // 0: live events never wait.
    bool deflate = false;
  };

  struct Relay {
    std::uint32_t shards = 0;  // 0: one for each core.
    std::vector<std::string> urls;
    std::vector<std::string> admins;  // 64 digits of lower-case hex each.
    std::string name = "gyre";
    std::string description;
    std::string contact;
    std::string pubkey;
    std::string icon;
    bool eose_hints = true;
  };

  struct Store {
    std::string path;  // Never empty in what load_config() returns.
    Durability durability = Durability::kFsync;
    std::uint64_t segment_bytes = 128 * 1024 * 1024;
    std::uint64_t resident_bytes = 0;  // Of all shards; 0: by the memory there is.
    std::uint32_t expiry_sweep_s = 10;
    std::uint32_t table_postings_max = 1'000'000;
    std::uint32_t compact_dead_percent = 40;  // 100: never.
  };

  struct Retention {
    struct KindAge {
      std::uint16_t first;
      std::uint16_t last;
      std::uint64_t max_age_s;  // 0: for ever.
    };
    std::uint64_t max_age_s = 0;  // 0: for ever.
    std::vector<KindAge> kinds;   // No kind in two of them.
    std::uint64_t max_bytes = 0;  // 0: no limit.
  };

  struct Limits {
    std::uint32_t connections = 20'000;
    std::uint32_t connections_per_ip = 200;  // 0: no limit.
    std::uint32_t message_bytes = 512 * 1024;
    std::uint32_t event_tags = 5'000;
    std::uint32_t content_chars = 512 * 1024;
    std::uint32_t created_at_future_s = 900;  // 0: no limit.
    std::uint32_t created_at_past_s = 0;      // 0: no limit.
    std::uint32_t subscriptions = 200;
    std::uint32_t subscription_id_chars = 64;
    std::uint32_t filters = 200;
    std::uint32_t filter_values = 5'000;
    std::uint32_t filter_limit_max = 5'000;
    std::uint32_t filter_limit_default = 500;
    std::uint32_t query_time_s = 5;
    std::uint32_t filter_cost = 65'536;
    std::uint32_t events_in_flight = 128;
    std::uint64_t send_queue_bytes = 4 * 1024 * 1024;
  };

  struct Auth {
    bool required = false;
    std::vector<std::uint16_t> gated_kinds = {4, 1059};
  };

  struct Log {
    LogLevel level = LogLevel::kInfo;
  };

  struct Runtime {
    bool pin = true;
    std::uint32_t spin_us = 0;
  };

  Net net;
  Relay relay;
  Store store;
  Retention retention;
  Limits limits;
  Auth auth;
  Log log;
  Runtime runtime;
};

struct ConfigSources {
  std::optional<std::string> file;       // Path of a TOML file that must exist.
  std::vector<std::string> environment;  // NAME=VALUE, as execve(2) passes it.
  std::vector<std::string> settings;     // SECTION.KEY=VALUE, as --set takes it; the last one wins.
};

// The process's environment.
[[nodiscard]] std::vector<std::string> process_environment();

// Reads and checks all sources. The error lists everything that is wrong, a line each: the key, the
// value, where it came from and what would be allowed.
[[nodiscard]] absl::StatusOr<Config> load_config(const ConfigSources& sources);

// Where the store lies if store.path says nothing: $STATE_DIRECTORY (set by systemd for
// StateDirectory=); for root /var/lib/gyre; else $XDG_STATE_HOME/gyre; else
// $HOME/.local/state/gyre; without a home /var/lib/gyre.
[[nodiscard]] std::string default_store_path(const std::vector<std::string>& environment,
                                             bool is_root);

// The URLs under which the relay knows itself: relay.urls, or, if there are none, those of this
// machine that reach `listen` (the address as bound, with the port in use).
[[nodiscard]] std::vector<std::string> own_urls(const Config& config, const std::string& listen);

// A complete TOML file, each key behind its documentation. With a Config{} this is what
// `gyre config --defaults` prints.
[[nodiscard]] std::string config_text(const Config& config);

// One key whose value differs, both values in TOML notation.
struct ConfigChange {
  std::string key;  // "section.key"
  std::string before;
  std::string after;
  bool needs_restart = false;
};
[[nodiscard]] std::vector<ConfigChange> diff(const Config& before, const Config& after);

// What a running relay goes on with after a reload: `loaded`, but `running` in those keys that need
// a restart.
[[nodiscard]] Config merge_reload(const Config& running, const Config& loaded);

}  // namespace gyre::app
