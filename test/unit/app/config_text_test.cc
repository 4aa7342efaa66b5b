#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "app/config.h"
#include "app/config_key.h"
#include "app/config_source.h"

namespace gyre::app {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A Config in which no key has its default.
Config changed_everywhere() {
  Config c;
  c.net = {.listen = "[::1]:80",
           .base_path = "/relay",
           .trusted_proxies = {"10.0.0.0/8", "::1"},
           .handshake_timeout_s = 11,
           .ping_s = 31,
           .pong_timeout_s = 32,
           .send_timeout_s = 33,
           .close_timeout_s = 6,
           .gather_us = 77,
           .deflate = true};
  c.relay = {.shards = 2,
             .urls = {"wss://relay.example"},
             .admins = {std::string(64, 'a')},
             .name = "a \"quoted\" \\ n\xc3\xa4me",
             .description = "two\nlines",
             .contact = "mailto:a@b",
             .pubkey = std::string(64, '0'),
             .icon = "https://relay.example/icon.png",
             .eose_hints = false};
  c.store = {.path = "/srv/gyre",
             .durability = Durability::kOs,
             .segment_bytes = 64 * 1024 * 1024,
             .resident_bytes = 123 * 1024 * 1024,
             .expiry_sweep_s = 9,
             .table_postings_max = 2000,
             .compact_dead_percent = 30};
  c.retention = {.max_age_s = 90 * 24 * 3600,
                 .kinds = {{0, 0, 0}, {1, 1, 3600}, {30'000, 39'999, 365 * 24 * 3600}},
                 .max_bytes = 1024 * 1024 * 1024};
  c.limits = {.connections = 1,
              .connections_per_ip = 2,
              .message_bytes = 4096,
              .event_tags = 3,
              .content_chars = 4,
              .created_at_future_s = 5,
              .created_at_past_s = 6,
              .subscriptions = 7,
              .subscription_id_chars = 8,
              .filters = 9,
              .filter_values = 10,
              .filter_limit_max = 12,
              .filter_limit_default = 11,
              .query_time_s = 13,
              .filter_cost = 12'345,
              .events_in_flight = 14,
              .send_queue_bytes = 65536};
  c.auth = {.required = true, .gated_kinds = {}};
  c.log.level = LogLevel::kError;
  c.runtime = {.pin = false, .spin_us = 15};
  return c;
}

// Applies a printed file to a Config, key by key.
void assign_all(const std::string& text, Config& config) {
  const Settings settings = read_toml(text, "printed");
  EXPECT_THAT(settings.errors, IsEmpty());
  EXPECT_EQ(settings.settings.size(), config_keys().size());
  for (const Setting& setting : settings.settings) {
    bool is_known = false;
    for (const ConfigKey& key : config_keys()) {
      if (key.path() != setting.key) continue;
      is_known = true;
      EXPECT_TRUE(key.field.assign(setting.value, config)) << setting.key << " = " << setting.shown;
    }
    EXPECT_TRUE(is_known) << setting.key;
  }
}

TEST(ConfigText, DefaultsReadBackAsTheDefaults) {
  Config config = changed_everywhere();
  assign_all(config_text(Config{}), config);
  EXPECT_THAT(diff(Config{}, config), IsEmpty());
}

TEST(ConfigText, ChangedValuesReadBackUnchanged) {
  Config config;
  assign_all(config_text(changed_everywhere()), config);
  EXPECT_THAT(diff(changed_everywhere(), config), IsEmpty());
  EXPECT_EQ(config.relay.name, "a \"quoted\" \\ n\xc3\xa4me");
  EXPECT_EQ(config.relay.description, "two\nlines");
  EXPECT_EQ(config.store.durability, Durability::kOs);
}

// Guards the test above as well: a key left out there would go unchecked.
TEST(ConfigText, EveryKeyDiffersBetweenTheTwo) {
  std::set<std::string> differing;
  for (const ConfigChange& change : diff(Config{}, changed_everywhere())) {
    differing.insert(change.key);
  }
  for (const ConfigKey& key : config_keys()) {
    EXPECT_TRUE(differing.contains(key.path())) << key.path();
  }
}

TEST(ConfigText, EveryKeyIsDocumented) {
  const std::string text = config_text(Config{});
  for (const ConfigKey& key : config_keys()) {
    EXPECT_FALSE(key.meaning.empty()) << key.path();
    EXPECT_TRUE(key.meaning.ends_with('.')) << key.path();
    EXPECT_FALSE(section_meaning(key.section).empty()) << key.path();
    EXPECT_THAT(text, HasSubstr("\n" + std::string(key.name) + " = ")) << key.path();
    EXPECT_THAT(text, HasSubstr(" " + key.environment() + ".")) << key.path();
  }
}

TEST(ConfigText, KeysAndVariablesAreUnique) {
  std::set<std::string> paths;
  std::set<std::string> variables;
  for (const ConfigKey& key : config_keys()) {
    EXPECT_TRUE(paths.insert(key.path()).second) << key.path();
    EXPECT_TRUE(variables.insert(key.environment()).second) << key.environment();
  }
}

TEST(ConfigText, LinesAreAtMostAHundredColumns) {
  std::istringstream lines(config_text(Config{}));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

}  // namespace
}  // namespace gyre::app
